// Package fifo is a linked list whose nodes are part of the waiting values: Push
// and Remove allocate nothing and take constant time.
package fifo

// A List is first in, first out. The zero List is empty. It is not safe for
// concurrent use.
type List[T any] struct {
	first, last *Node[T]
	n           int
}

// A Node holds one value in a List. The zero Node is in no list. A Node must not
// be copied while it is in one.
type Node[T any] struct {
	value      T
	list       *List[T]
	prev, next *Node[T]
}

// Len returns the number of nodes in the list.
func (l *List[T]) Len() int { return l.n }

// First returns the first node, or nil.
func (l *List[T]) First() *Node[T] { return l.first }

// Push adds n, which must be in no list, at the end, with value v.
func (l *List[T]) Push(n *Node[T], v T) {
	*n = Node[T]{value: v, list: l, prev: l.last}
	if l.last == nil {
		l.first = n
	} else {
		l.last.next = n
	}
	l.last = n
	l.n++
}

// Value returns the value of n.
func (n *Node[T]) Value() T { return n.value }

// Next returns the node after n, or nil.
func (n *Node[T]) Next() *Node[T] { return n.next }

// InList reports whether n is in a list.
func (n *Node[T]) InList() bool { return n.list != nil }

// Remove removes n from its list, if it is in one.
func (n *Node[T]) Remove() {
	l := n.list
	if l == nil {
		return
	}
	if n.prev == nil {
		l.first = n.next
	} else {
		n.prev.next = n.next
	}
	if n.next == nil {
		l.last = n.prev
	} else {
		n.next.prev = n.prev
	}
	l.n--
	*n = Node[T]{}
}
