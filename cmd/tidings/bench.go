package main

import (
	"os"
	"time"

	"github.com/spf13/cobra"

	"tidings/internal/bench"
)

func newBench() *cobra.Command {
	var o bench.Options
	cmd := &cobra.Command{
		Use:   "bench [accept|drain|blast]...",
		Short: "Measure what this machine can do",
		Long: "Measure the service in a folder of its own: accept posts events over HTTP, drain delivers to a provider that costs\n" +
			"nothing, blast pushes to a simulated APNs in another process, in turns with a loop that does nothing but push.",
		ValidArgs: bench.Kinds(),
		Args:      cobra.OnlyValidArgs,
		RunE: func(cmd *cobra.Command, kinds []string) error {
			if o.Rounds < 1 || o.Deliveries < 1 || o.Span <= 0 {
				return errUsage("--rounds, --deliveries and --span must be above 0")
			}
			self, err := os.Executable()
			if err != nil {
				return err
			}
			o.Kinds, o.Simulate = kinds, []string{self, "bench", "simulate"}
			return bench.Run(cmd.Context(), o, cmd.OutOrStdout())
		},
	}
	cmd.Flags().IntVar(&o.Rounds, "rounds", 5, "rounds of each measurement; figures are their medians")
	cmd.Flags().DurationVar(&o.Span, "span", time.Second, "length of one round of accept")
	cmd.Flags().IntVar(&o.Deliveries, "deliveries", 10_000, "deliveries of one round of drain and blast")
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print one JSON document")
	cmd.AddCommand(newBenchSimulate())
	return cmd
}

// newBenchSimulate is what blast starts as a process of its own.
func newBenchSimulate() *cobra.Command {
	return &cobra.Command{
		Use:    "simulate DIR",
		Short:  "Run the simulator of a measurement until the input ends",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return bench.Simulate(cmd.Context(), args[0], cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}
