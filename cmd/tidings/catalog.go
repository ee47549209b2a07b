package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"tidings/internal/store"
	"tidings/templates"
)

func newCatalog() *cobra.Command {
	cmd := &cobra.Command{Use: "catalog", Short: "Check and publish the catalogue of event types, categories and templates"}
	cmd.AddCommand(newCatalogCheck(), newCatalogApply())
	return cmd
}

// catalogDir is the folder named as argument, else by the configuration.
func catalogDir(cmd *cobra.Command, args []string) (string, error) {
	if len(args) == 1 {
		return args[0], nil
	}
	cfg, err := loadConfig(cmd)
	if err != nil {
		return "", err
	}
	if cfg.Catalog == "" {
		return "", errUsage("name the folder of the catalogue")
	}
	return cfg.Catalog, nil
}

func parseDir(dir string) (*templates.Catalogue, map[string]string, error) {
	if _, err := os.Stat(filepath.Join(dir, "catalog.yaml")); errors.Is(err, os.ErrNotExist) {
		return nil, nil, fmt.Errorf("%s holds no catalog.yaml", dir)
	}
	files, err := templates.Load(os.DirFS(dir))
	if err != nil {
		return nil, nil, err
	}
	parsed, err := templates.Parse(files)
	return parsed, files, err
}

func newCatalogCheck() *cobra.Command {
	return &cobra.Command{
		Use: "check [DIR]", Short: "Say what is wrong with a catalogue, with file and line", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := catalogDir(cmd, args)
			if err != nil {
				return err
			}
			parsed, _, err := parseDir(dir)
			if err != nil {
				var problems templates.Problems
				if errors.As(err, &problems) {
					fmt.Fprintln(cmd.OutOrStdout(), problems.Error())
					return fmt.Errorf("the catalogue in %s has %d problem(s)", dir, len(problems))
				}
				return err
			}
			cfg, err := loadConfig(cmd)
			if err != nil {
				return err
			}
			for _, warning := range parsed.Lint(cfg.Workers.Delivery.ExpiresIn) {
				warning.Detail = "warning: " + warning.Detail
				fmt.Fprintln(cmd.OutOrStdout(), warning)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d event types, %d categories, hash %.12s\n", len(parsed.Events), len(parsed.Categories), parsed.Hash)
			return nil
		},
	}
}

func newCatalogApply() *cobra.Command {
	return &cobra.Command{
		Use: "apply [DIR]", Short: "Publish a catalogue as a new version",
		Long: "Publish a catalogue as a new version, on the database directly: a running service takes it up within a second.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := catalogDir(cmd, args)
			if err != nil {
				return err
			}
			parsed, files, err := parseDir(dir)
			if err != nil {
				return err
			}
			return withStore(cmd, func(ctx context.Context, s *store.Store) error {
				version, published, err := s.PublishCatalog(ctx, parsed.Hash, files, time.Now())
				if err != nil {
					return err
				}
				if !published {
					fmt.Fprintf(cmd.OutOrStdout(), "unchanged: these files are version %d\n", version)
					return nil
				}
				fmt.Fprintf(cmd.OutOrStdout(), "published version %d\n", version)
				return nil
			})
		},
	}
}
