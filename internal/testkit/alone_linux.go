package testkit

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// aloneEnv names the test that a process was started for.
const aloneEnv = "TIDINGS_TEST_ALONE"

// Alone runs a test in a process of its own, which may mount what it likes where the system
// allows that, and whose limits are nobody else's.
func Alone(t *testing.T, run func(t *testing.T)) {
	t.Helper()
	if os.Getenv(aloneEnv) == t.Name() {
		run(t)
		return
	}
	out, err := alone(t, &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	})
	if _, ran := err.(*exec.ExitError); err != nil && !ran { // no namespaces here
		out, err = alone(t, nil)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("%v\n%s", err, out)
	}
}

func alone(t *testing.T, attr *syscall.SysProcAttr) ([]byte, error) {
	t.Helper()
	var pattern []string
	for part := range strings.SplitSeq(t.Name(), "/") {
		pattern = append(pattern, "^"+regexp.QuoteMeta(part)+"$")
	}
	c := exec.Command(os.Args[0], "-test.v", "-test.run="+strings.Join(pattern, "/"))
	c.Env = append(os.Environ(), aloneEnv+"="+t.Name())
	c.SysProcAttr = attr
	return c.CombinedOutput()
}
