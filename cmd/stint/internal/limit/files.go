package limit

// Files returns how many descriptors are for jobs, and how many are for files with their output: half
// each of those that this process may have, but for some. So a job finds the descriptors that it needs
// to start, however much output waits.
func Files() int { return max(0, (maxFiles()-reservedFiles)/2) }
