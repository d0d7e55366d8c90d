package template

import "strings"

// apply returns what a form makes of an item. A path is text with slashes, as in GNU
// parallel, whatever the system: nothing is cleaned, and an extension begins at the last
// dot after the last slash, even if that is its first byte.
func (f form) apply(item string) string {
	switch f {
	case noExt:
		return withoutExt(item)
	case base:
		return item[strings.LastIndexByte(item, '/')+1:]
	case dir:
		return parent(item)
	case baseNoExt:
		return withoutExt(base.apply(item))
	}
	return item
}

func withoutExt(path string) string {
	if i := strings.LastIndexByte(path, '.'); i > strings.LastIndexByte(path, '/') {
		return path[:i]
	}
	return path
}

// parent returns the directory of path, which is "." without a slash, as dirname does.
func parent(path string) string {
	name := strings.TrimRight(path, "/")
	i := strings.LastIndexByte(name, '/')
	switch {
	case name == "" && path != "":
		return "/"
	case i < 0:
		return "."
	}
	if up := strings.TrimRight(name[:i], "/"); up != "" {
		return up
	}
	return "/"
}
