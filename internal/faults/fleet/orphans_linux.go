package fleet

import "syscall"

// orphans lets a process end with the one that started it, however that ended.
func orphans() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
