package main

// Checks that a delivery came from the service. Standard library only; copy this file.

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// How far our clock and the sender's may be apart, and how old a delivery may be.
const tolerance = 300 * time.Second

const prefix = "whsec_"

// Why a delivery must not be believed.
var (
	errMissingHeader  = errors.New("missing_header")
	errBadTimestamp   = errors.New("bad_timestamp")
	errStale          = errors.New("stale")
	errWrongSignature = errors.New("wrong_signature")
)

var digits = regexp.MustCompile(`^[0-9]{1,12}$`)

// verifyStandard checks the headers of Standard Webhooks: webhook-signature holds one or more
// `v1,<base64>`, HMAC-SHA256 of `<id>.<timestamp>.<body>`. It guards against replays too.
//
// body is the bytes as they came, secret as it was shown (`whsec_…`). It gives the delivery's id.
func verifyStandard(header http.Header, body []byte, secret string, now time.Time) (string, error) {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	signatures := header.Get("webhook-signature")
	if id == "" || timestamp == "" || signatures == "" {
		return "", errMissingHeader
	}
	if !digits.MatchString(timestamp) {
		return "", errBadTimestamp
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return "", errBadTimestamp
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > tolerance || age < -tolerance {
		return "", errStale
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, prefix))
	if err != nil {
		return "", err
	}
	expected := sign(key, []byte(id+"."+timestamp+"."), body)
	for _, signature := range strings.Split(signatures, " ") {
		version, text, _ := strings.Cut(signature, ",")
		given, err := base64.StdEncoding.DecodeString(text)
		if version == "v1" && err == nil && hmac.Equal(given, expected) {
			return id, nil
		}
	}
	return "", errWrongSignature
}

// verifyService checks the service's own header: lower-case hex HMAC-SHA256 of the body. While a
// secret is rotated the old one stays there, and the new one signs beside it, in `…-Next`. It says
// nothing about replays.
func verifyService(header http.Header, body []byte, secret, name string) error {
	given := []string{header.Get(name), header.Get(name + "-Next")}
	if given[0] == "" && given[1] == "" {
		return errMissingHeader
	}
	expected := []byte(hex.EncodeToString(sign([]byte(secret), body)))
	for _, text := range given {
		if hmac.Equal([]byte(text), expected) {
			return nil
		}
	}
	return errWrongSignature
}

func sign(key []byte, parts ...[]byte) []byte {
	mac := hmac.New(sha256.New, key)
	for _, part := range parts {
		mac.Write(part)
	}
	return mac.Sum(nil)
}
