package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
)

const perPartition = 1 << 40

func leafOf(of reading, version int) []byte {
	if version == 1 {
		return keccak(keccak(leafWords1(of)))
	}
	return keccak(keccak(leafWords2(of)))
}

func leafWords1(of reading) []byte {
	names := quantities[:5]
	kind := "airproof.reading.v1(bytes32 sensor,uint64 timeMs,uint64 seq,uint16 present,int64 " +
		strings.Join(names, ",int64 ") + ",uint16 aqi,bytes32 deviceSig)"
	var present int64
	var words []byte
	for bit, value := range []*int64{of.PM25, of.PM10, of.CO2, of.Temperature, of.Humidity, of.Aqi} {
		if value == nil {
			words = append(words, word(0)...)
			continue
		}
		present |= 1 << bit
		words = append(words, word(*value)...)
	}
	return join(keccak([]byte(kind)), keccak([]byte(of.SensorID)), word(of.TimeMs), word(of.Seq),
		word(present), words, word(0))
}

func leafWords2(of reading) []byte {
	kind := "airproof.reading.v2(bytes32 sensor,uint64 timeMs,uint64 seq,bytes32 area,uint32 flags,bytes32 values,uint16 aqi,bytes32 device)"
	var values []byte
	for _, pair := range of.Values {
		values = binary.BigEndian.AppendUint16(values, uint16(pair[0]))
		values = binary.BigEndian.AppendUint64(values, uint64(pair[1]))
	}
	aqi := int64(65535)
	if of.Aqi != nil {
		aqi = *of.Aqi
	}
	return join(keccak([]byte(kind)), keccak([]byte(of.SensorID)), word(of.TimeMs), word(of.Seq),
		keccak([]byte(of.Area)), word(of.Flags), keccak(values), word(aqi), deviceHash(of.Device))
}

// checkBatch holds the header to what it claims.
func checkBatch(of reading, in batch, version int) error {
	p, n := of.Seq/perPartition, of.Seq%perPartition
	if p >= int64(len(in.NFirst)) {
		return fmt.Errorf("the reading is of partition %d, and the batch has %d", p, len(in.NFirst))
	}
	if n < in.NFirst[p] || n > in.NLast[p] {
		return fmt.Errorf("reading %d of partition %d is not one of the batch", n, p)
	}
	if of.TimeMs < in.TimeMinMs || of.TimeMs > in.TimeMaxMs {
		return errors.New("the time of the reading is outside the times of the batch")
	}
	// 8192 numbers of 53 bits do not fit 64
	sum := new(big.Int)
	for at, first := range in.NFirst {
		if first < 1 || in.NLast[at] < first-1 {
			return errors.New("the numbers of a partition run backwards")
		}
		sum.Add(sum, big.NewInt(in.NLast[at]-first+1))
	}
	if sum.Cmp(big.NewInt(in.Count)) != 0 {
		return errors.New("n_first and n_last do not add up to count")
	}
	if in.Index < 1 || in.First < 1 || in.Last < in.First {
		return errors.New("its index or its range cannot be")
	}
	if bytes.Equal(unhex(in.Root), make([]byte, 32)) {
		return errors.New("its root is zero")
	}
	if version == 2 && slices.Max(in.NLast) >= perPartition {
		return errors.New("its contract cannot hold one of its numbers")
	}
	return nil
}

// foldSorted is the root that follows from a leaf and its path in version 1.
func foldSorted(leaf []byte, path []string) []byte {
	node := leaf
	for _, text := range path {
		low, high := node, unhex(text)
		if bytes.Compare(low, high) > 0 {
			low, high = high, low
		}
		node = keccak(low, high)
	}
	return node
}

// foldPlaced is the same in version 2, where a number has one place in the tree. Check batch was made before.
func foldPlaced(leaf []byte, path []string, seq int64, in batch) ([]byte, error) {
	p, n := seq/perPartition, seq%perPartition
	at := n - in.NFirst[p]
	for q := range p {
		at += in.NLast[q] - in.NFirst[q] + 1
	}
	var isRight []bool
	for size := in.Count; size > 1; at, size = at/2, (size+1)/2 {
		if at%2 == 1 || at+1 < size {
			isRight = append(isRight, at%2 == 1)
		}
	}
	if len(isRight) != len(path) {
		return nil, fmt.Errorf("the path has %d siblings, and that place of the tree has %d", len(path), len(isRight))
	}
	node := leaf
	for level, text := range path {
		left, right := node, unhex(text)
		if isRight[level] {
			left, right = right, left
		}
		node = keccak([]byte{1}, left, right)
	}
	return node, nil
}

func headerHash(of batch, version int) []byte {
	kind := fmt.Sprintf("airproof.batch.v%d(uint64 index,bytes32 prevHead,bytes32 root,uint64 first,uint64 last,uint64 count,uint64 timeMinMs,uint64 timeMaxMs,uint64 sealedMs,bytes32 beacon,uint64[] nFirst,uint64[] nLast)", version)
	const words = 13
	size := int64(len(of.NFirst))
	all := join(keccak([]byte(kind)), word(of.Index), unhex(of.PrevHead), unhex(of.Root), word(of.First),
		word(of.Last), word(of.Count), word(of.TimeMinMs), word(of.TimeMaxMs), word(of.SealedMs), unhex(of.Beacon),
		word(32*words), word(32*(words+1+size)))
	for _, numbers := range [][]int64{of.NFirst, of.NLast} {
		all = append(all, word(size)...)
		for _, number := range numbers {
			all = append(all, word(number)...)
		}
	}
	return keccak(all)
}

// packed is sixteen numbers of 40 bits in three words, six to a word, the first in the lowest bits.
func packed(numbers []int64, less int64) []byte {
	var all []byte
	for from := 0; from < len(numbers); from += 6 {
		bits := new(big.Int)
		for at := min(from+6, len(numbers)) - 1; at >= from; at-- {
			bits.Lsh(bits, 40).Add(bits, big.NewInt(numbers[at]-less))
		}
		all = append(all, bigWord(bits)...)
	}
	return all
}

// onChain is what a batch has to have left on the chain.
type onChain struct {
	head   []byte
	isCall func(data []byte) bool
	// the first of the topics, and the data of the event
	topic, data []byte
}

func onChainOf(of batch, version int) onChain {
	hash := headerHash(of, version)
	prevHead, root := unhex(of.PrevHead), unhex(of.Root)
	event := join(prevHead, hash, word(of.First), word(of.Last), word(of.Count))
	if version == 1 {
		arguments := join(prevHead, word(of.Index), root, hash, word(of.First), word(of.Last), word(of.Count))
		return onChain{
			head:   keccak(arguments),
			isCall: func(data []byte) bool { return bytes.Equal(data, join(unhex("0xf1da9da0"), arguments)) },
			topic:  unhex("0x9c50ab2552db77059382134f25155c02c9b69947e9563d788f06d57216ad5a03"),
			data:   event,
		}
	}
	before, now := packed(of.NFirst, 1), packed(of.NLast, 0)
	return onChain{
		head: keccak(prevHead, word(of.Index), root, hash, word(of.Last), now),
		isCall: func(data []byte) bool {
			if len(data) != 4+14*32 || !bytes.Equal(data[:4], unhex("0x90badc15")) {
				return false
			}
			record, rest := data[4:260], data[260:]
			return bytes.Equal(keccak(record), prevHead) && bytes.Equal(record[32:64], word(of.Index-1)) &&
				bytes.Equal(record[128:], join(word(of.First-1), before)) &&
				bytes.Equal(rest, join(root, hash, word(of.Last), now))
		},
		topic: unhex("0x905dd6517982daa83341b664670b2bdfea90d6402bd71c62a7cea7940abaa693"),
		data:  join(event, before, now),
	}
}
