package machine

// Memory is what a machine or a cgroup has for new processes.
type Memory struct {
	Available int64  // bytes that can be used without swapping; 0 if there are none
	Total     int64  // bytes of the machine, or the limit of the cgroup
	Bound     string // whose figures these are, for messages: "memory" or "memory of the cgroup"
}
