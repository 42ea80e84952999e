package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
)

// item is bytes, or a list.
type item struct {
	bytes  []byte
	list   []item
	isList bool
}

var errEarly = errors.New("RLP ends too early")

func readItem(data []byte, depth int) (found item, rest []byte, err error) {
	if len(data) == 0 {
		return item{}, nil, errEarly
	}
	if depth > 64 {
		return item{}, nil, errors.New("RLP is nested too deeply")
	}
	first := data[0]
	if first < 0x80 {
		return item{bytes: data[:1]}, data[1:], nil
	}
	isList := first >= 0xc0
	size, start := int(first)-0x80, 1
	if isList {
		size = int(first) - 0xc0
	}
	if size > 55 {
		start += size - 55
		if start > len(data) {
			return item{}, nil, errEarly
		}
		length := new(big.Int).SetBytes(data[1:start])
		if data[1] == 0 || length.Cmp(big.NewInt(55)) <= 0 {
			return item{}, nil, errors.New("an RLP length is written longer than needed")
		}
		if length.Cmp(big.NewInt(int64(len(data)))) > 0 {
			return item{}, nil, errEarly
		}
		size = int(length.Int64())
	}
	if start+size > len(data) {
		return item{}, nil, errEarly
	}
	content, rest := data[start:start+size], data[start+size:]
	if !isList {
		if size == 1 && content[0] < 0x80 {
			return item{}, nil, errors.New("a byte of RLP is written longer than needed")
		}
		return item{bytes: content}, rest, nil
	}
	found = item{isList: true}
	for len(content) > 0 {
		var inner item
		if inner, content, err = readItem(content, depth+1); err != nil {
			return item{}, nil, err
		}
		found.list = append(found.list, inner)
	}
	return found, rest, nil
}

// readList gives the items of a list that is all of the bytes.
func readList(data []byte) ([]item, error) {
	found, rest, err := readItem(data, 0)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 || !found.isList {
		return nil, errors.New("it is not one whole RLP list")
	}
	return found.list, nil
}

func bytesAt(items []item, at int) ([]byte, error) {
	if at >= len(items) || items[at].isList {
		return nil, fmt.Errorf("item %d of the list is missing or is not bytes", at)
	}
	return items[at].bytes, nil
}

func numberAt(items []item, at int) (*big.Int, error) {
	raw, err := bytesAt(items, at)
	if err == nil && len(raw) > 0 && raw[0] == 0 {
		err = fmt.Errorf("number %d of the list has a leading zero", at)
	}
	return new(big.Int).SetBytes(raw), err
}

// rlpNumber writes a number, of at most 8 bytes.
func rlpNumber(number int64) []byte {
	raw := big.NewInt(number).Bytes()
	if len(raw) == 1 && raw[0] < 0x80 {
		return raw
	}
	return append([]byte{0x80 + byte(len(raw))}, raw...)
}

func nibbles(data []byte) []byte {
	var all []byte
	for _, one := range data {
		all = append(all, one>>4, one&15)
	}
	return all
}

// trieValue is what the nodes prove to be under the key.
func trieValue(root []byte, key []byte, nodes []string) ([]byte, error) {
	expected, rest := root, nibbles(key)
	for at, text := range nodes {
		node := unhex(text)
		if !bytes.Equal(keccak(node), expected) {
			return nil, fmt.Errorf("trie node %d has another hash than it should", at)
		}
		items, err := readList(node)
		if err != nil {
			return nil, err
		}
		switch len(items) {
		case 17:
			if len(rest) == 0 {
				return nil, errors.New("the key ends in a branch")
			}
			if expected, err = bytesAt(items, int(rest[0])); err != nil {
				return nil, err
			}
			rest = rest[1:]
		case 2:
			packed, err := bytesAt(items, 0)
			if err != nil {
				return nil, err
			}
			path := nibbles(packed)
			if len(path) == 0 || path[0] > 3 || path[0]%2 == 0 && path[1] != 0 {
				return nil, errors.New("a trie path has a wrong flag")
			}
			isLeaf := path[0] >= 2
			path = path[2-path[0]%2:]
			if !bytes.HasPrefix(rest, path) {
				return nil, errors.New("the trie leads to another key")
			}
			rest = rest[len(path):]
			value, err := bytesAt(items, 1)
			if err != nil {
				return nil, err
			}
			if isLeaf {
				if len(rest) > 0 || at != len(nodes)-1 {
					return nil, errors.New("the leaf of the trie is not the end of the key and of the proof")
				}
				return value, nil
			}
			expected = value
		default:
			return nil, errors.New("a trie node is neither a branch nor has a path")
		}
		if len(expected) != 32 {
			return nil, errors.New("a trie node does not name the next one by its hash")
		}
	}
	return nil, errors.New("the trie proof ends before its leaf")
}
