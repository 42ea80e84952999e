package main

import (
	"encoding/hex"
	"math/big"

	"golang.org/x/crypto/sha3"
)

// keccak is Keccak-256 of all parts, one after the other.
func keccak(parts ...[]byte) []byte {
	hash := sha3.NewLegacyKeccak256()
	for _, part := range parts {
		hash.Write(part)
	}
	return hash.Sum(nil)
}

// word is a whole number in 32 bytes, big-endian and in two's complement.
func word(number int64) []byte {
	return bigWord(big.NewInt(number))
}

func bigWord(number *big.Int) []byte {
	if number.Sign() < 0 {
		number = new(big.Int).Add(number, new(big.Int).Lsh(big.NewInt(1), 256))
	}
	return number.FillBytes(make([]byte, 32))
}

// join puts words, and what is made of words, one after the other.
func join(parts ...[]byte) []byte {
	var all []byte
	for _, part := range parts {
		all = append(all, part...)
	}
	return all
}

// unhex reads what check 1 has found to be 0x and an even number of digits.
func unhex(text string) []byte {
	bytes, err := hex.DecodeString(text[2:])
	if err != nil {
		panic(err)
	}
	return bytes
}

func toHex(bytes []byte) string {
	return "0x" + hex.EncodeToString(bytes)
}
