package sum

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"hash"
	"strings"
)

const maxDigest = sha512.Size

// algorithm is a digest algorithm, by its name on the command line and in tagged lines.
type algorithm struct {
	name  string
	tag   string
	size  int
	index int // in algorithms
	make  func() hash.Hash
}

var algorithms = []*algorithm{
	{"md5", "MD5", md5.Size, 0, md5.New},
	{"sha1", "SHA1", sha1.Size, 1, sha1.New},
	{"sha256", "SHA256", sha256.Size, 2, sha256.New},
	{"sha384", "SHA384", sha512.Size384, 3, sha512.New384},
	{"sha512", "SHA512", sha512.Size, 4, sha512.New},
}

// Algorithms returns the names of all algorithms.
func Algorithms() []string {
	var names []string
	for _, a := range algorithms {
		names = append(names, a.name)
	}
	return names
}

// algorithmByName ignores case.
func algorithmByName(name string) (*algorithm, bool) {
	for _, a := range algorithms {
		if strings.EqualFold(a.name, name) {
			return a, true
		}
	}
	return nil, false
}
