package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

func base64Bytes(text string) []byte {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return raw
}

// deviceHash is the word of a leaf that holds a signature; zero where there is none.
func deviceHash(signed *device) []byte {
	if signed == nil {
		return make([]byte, 32)
	}
	algorithm := map[string]byte{"ed25519": 1, "p256": 2}[signed.Algorithm]
	return keccak([]byte{algorithm}, base64Bytes(signed.PublicKey), base64Bytes(signed.Signature))
}

var signedLine = regexp.MustCompile(`\A([A-Za-z0-9_]{1,32})=(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)\z`)

// hundredths of a number as the sensor wrote it: the shortest text of its double, rounded half away from zero.
func hundredths(text string) int64 {
	value, _ := strconv.ParseFloat(text, 64)
	if math.Abs(value) >= 1e12 {
		return int64(math.Copysign(1e14, value))
	}
	exact, _ := new(big.Rat).SetString(strconv.FormatFloat(math.Abs(value), 'f', -1, 64))
	exact.Mul(exact, big.NewRat(100, 1)).Add(exact, big.NewRat(1, 2))
	rounded := new(big.Int).Quo(exact.Num(), exact.Denom()).Int64()
	if value < 0 {
		return -rounded
	}
	return rounded
}

func isDropped(flags int64, id int) bool {
	if id >= 5 {
		id += 7
	}
	return flags>>id&1 == 1
}

// checkSignedText compares what was signed with the reading.
func checkSignedText(of reading) error {
	lines := strings.Split(of.Device.Text, "\n")
	if lines[0] != "airproof.device.v1" {
		return errors.New("it is not a text that sensors sign")
	}
	if len(lines) < 3 || lines[1] != of.SensorID {
		return errors.New("it is of another sensor")
	}
	if lines[2] != numberText(of.TimeMs) {
		return errors.New("it is of another time")
	}
	signed, before := map[string]int64{}, ""
	for _, line := range lines[3:] {
		found := signedLine.FindStringSubmatch(line)
		if found == nil || len(found[2]) > 32 {
			return errors.New("it has a line that is not a value")
		}
		if found[1] <= before {
			return errors.New("its values are not sorted by name")
		}
		before = found[1]
		signed[before] = hundredths(found[2])
	}
	if len(signed) < 1 || len(signed) > 64 {
		return errors.New("it has not 1 to 64 values")
	}
	held := map[int]int64{}
	for _, pair := range of.Values {
		held[int(pair[0])] = pair[1]
	}
	for id, name := range quantities {
		value, isHeld := held[id]
		said, isSaid := signed[name]
		if isHeld == isSaid && value == said {
			continue
		}
		// the flag alone is the operator's word
		hard := hardRanges[name]
		isOutside := isSaid && (said < hard[0] || said > hard[1])
		if isHeld || !isOutside || !isDropped(of.Flags, id) {
			return fmt.Errorf("its %s is not that of the reading", name)
		}
	}
	return nil
}

// strangeNames are those signed that this program does not know.
func strangeNames(text string) []string {
	var strange []string
	for _, line := range strings.Split(text, "\n")[3:] {
		name, _, _ := strings.Cut(line, "=")
		if _, isKnown := hardRanges[name]; !isKnown {
			strange = append(strange, name)
		}
	}
	return strange
}

func checkSignature(signed *device) error {
	key, signature := base64Bytes(signed.PublicKey), base64Bytes(signed.Signature)
	if signed.Algorithm == "ed25519" {
		return checkEd25519(key, signature, []byte(signed.Text))
	}
	return checkP256(key, signature, []byte(signed.Text))
}

func checkEd25519(key, signature, message []byte) error {
	littleEndian := bytes.Clone(key)
	littleEndian[31] &= 0x7f
	for at := range 16 {
		littleEndian[at], littleEndian[31-at] = littleEndian[31-at], littleEndian[at]
	}
	y := new(big.Int).SetBytes(littleEndian)
	prime := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))
	eighth, _ := new(big.Int).SetString("2707385501144840649318225287225658788936804267575313519463743609750303402022", 10)
	small := []*big.Int{big.NewInt(0), big.NewInt(1), eighth,
		new(big.Int).Sub(prime, big.NewInt(1)), new(big.Int).Sub(prime, eighth)}
	isUsable := y.Cmp(prime) < 0
	for _, one := range small {
		isUsable = isUsable && y.Cmp(one) != 0
	}
	if !isUsable {
		return errors.New("anyone can sign with its key")
	}
	if !ed25519.Verify(key, message, signature) {
		return errors.New("the key did not sign this text")
	}
	return nil
}

func checkP256(key, signature, message []byte) error {
	curve := elliptic.P256()
	order := curve.Params().N
	r, s := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])
	if r.Sign() == 0 || s.Sign() == 0 || r.Cmp(order) >= 0 || s.Cmp(order) >= 0 {
		return errors.New("its r or s cannot be")
	}
	if s.Cmp(new(big.Int).Rsh(order, 1)) > 0 {
		return errors.New("its s is the high one of the two that sign the same")
	}
	x, y := elliptic.UnmarshalCompressed(curve, key)
	if x == nil {
		return errors.New("its key is not a point of the curve")
	}
	digest := sha256.Sum256(message)
	if !ecdsa.Verify(&ecdsa.PublicKey{Curve: curve, X: x, Y: y}, digest[:], r, s) {
		return errors.New("the key did not sign this text")
	}
	return nil
}
