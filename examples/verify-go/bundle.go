package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// bundle is what check 1 has found in order. Of a reading, each version uses its own fields.
type bundle struct {
	Format           string   `json:"format"`
	Level            string   `json:"level"`
	ReadingHash      string   `json:"reading_hash"`
	Reading          reading  `json:"reading"`
	Path             []string `json:"path"`
	Batch            batch    `json:"batch"`
	Anchor           anchor   `json:"anchor"`
	BlockHeader      string   `json:"block_header"`
	TransactionProof []string `json:"transaction_proof"`
	ReceiptProof     []string `json:"receipt_proof"`
	version          int
}

type reading struct {
	SensorID string `json:"sensor_id"`
	TimeMs   int64  `json:"time_ms"`
	Seq      int64  `json:"seq"`
	Aqi      *int64 `json:"aqi"`
	// version 1
	PM25        *int64 `json:"pm25"`
	PM10        *int64 `json:"pm10"`
	CO2         *int64 `json:"co2"`
	Temperature *int64 `json:"temperature"`
	Humidity    *int64 `json:"humidity"`
	// version 2
	Area   string     `json:"area"`
	Flags  int64      `json:"flags"`
	Values [][2]int64 `json:"values"`
	Device *device    `json:"device"`
}

type device struct {
	Algorithm string `json:"algorithm"`
	PublicKey string `json:"public_key"`
	Signature string `json:"signature"`
	Text      string `json:"text"`
}

type batch struct {
	Index     int64   `json:"index"`
	PrevHead  string  `json:"prev_head"`
	Root      string  `json:"root"`
	First     int64   `json:"first"`
	Last      int64   `json:"last"`
	Count     int64   `json:"count"`
	TimeMinMs int64   `json:"time_min_ms"`
	TimeMaxMs int64   `json:"time_max_ms"`
	SealedMs  int64   `json:"sealed_ms"`
	Beacon    string  `json:"beacon"`
	NFirst    []int64 `json:"n_first"`
	NLast     []int64 `json:"n_last"`
}

type anchor struct {
	ChainID     int64  `json:"chain_id"`
	Contract    string `json:"contract"`
	Head        string `json:"head"`
	TxHash      string `json:"tx_hash"`
	TxIndex     int64  `json:"tx_index"`
	BlockHash   string `json:"block_hash"`
	BlockNumber int64  `json:"block_number"`
	BlockTimeS  int64  `json:"block_time_s"`
}

// versions of bundles. A line is never taken out: a file that was handed out stays valid.
var versions = []string{"airproof.proof.v1", "airproof.proof.v2"}

// rule says what is wrong with a value; "" if nothing is.
type rule func(value any) string

const safe = 1<<53 - 1

func pattern(expression, should string) rule {
	whole := regexp.MustCompile(`\A(?:` + expression + `)\z`)
	return func(value any) string {
		if text, isText := value.(string); isText && whole.MatchString(text) {
			return ""
		}
		return should
	}
}

func whole(low, high int64) rule {
	digits := regexp.MustCompile(`\A(?:0|-?[1-9][0-9]{0,15})\z`)
	return func(value any) string {
		if number, isNumber := value.(json.Number); isNumber && digits.MatchString(number.String()) {
			if n, err := number.Int64(); err == nil && low <= n && n <= high {
				return ""
			}
		}
		return fmt.Sprintf("a whole number from %d to %d", low, high)
	}
}

func orNull(is rule) rule {
	return func(value any) string {
		if value == nil {
			return ""
		}
		return is(value)
	}
}

func list(is rule, least, most int) rule {
	return func(value any) string {
		items, isList := value.([]any)
		if !isList || len(items) < least || len(items) > most {
			return fmt.Sprintf("a list of %d to %d", least, most)
		}
		for _, item := range items {
			if fault := is(item); fault != "" {
				return "a list of which each is " + fault
			}
		}
		return ""
	}
}

// text of some code points, none of them one of those that are named.
func text(least, most int, isBad func(letter rune) bool) rule {
	return func(value any) string {
		text, isText := value.(string)
		size := utf8.RuneCountInString(text)
		if !isText || size < least || size > most || strings.ContainsFunc(text, isBad) {
			return fmt.Sprintf("text of %d to %d code points without those that are not allowed", least, most)
		}
		return ""
	}
}

func isControl(letter rune) bool { return letter < 0x20 || 0x7f <= letter && letter <= 0x9f }

type named struct {
	name string
	is   rule
}

func fields(expected ...named) rule {
	return func(value any) string {
		given, isObject := value.(object)
		if !isObject || len(given) != len(expected) {
			return fmt.Sprintf("an object of %d fields", len(expected))
		}
		for at, one := range given {
			if one.name != expected[at].name {
				return fmt.Sprintf("one whose field %d is %s", at+1, expected[at].name)
			}
			if fault := expected[at].is(one.value); fault != "" {
				return fmt.Sprintf("one whose %s is %s", one.name, fault)
			}
		}
		return ""
	}
}

var (
	hashRule    = pattern("0x[0-9a-f]{64}", "0x and 64 lower-case hexadecimal digits")
	addressRule = pattern("0x[0-9a-f]{40}", "0x and 40 lower-case hexadecimal digits")
	bytesRule   = pattern("0x(?:[0-9a-f]{2})+", "0x and an even number of lower-case hexadecimal digits")
	countRule   = whole(0, safe)
	valueRule   = whole(-safe, safe)
	sensorRule  = text(1, 64, func(letter rune) bool {
		return isControl(letter) || strings.ContainsRune(` "\`, letter)
	})
)

// The names of the values: of version 1 in the order of the words, of version 2 by their ids.
var quantities = []string{"pm25", "pm10", "co2", "temperature", "humidity", "pm1", "pm4", "pressure",
	"no2", "o3", "co", "so2", "voc_index", "nox_index", "tvoc", "noise"}

// hardRanges are in hundredths: what is outside of it no sensor measures, and the network drops. They never change.
var hardRanges = map[string][2]int64{
	"pm25": {0, 100000}, "pm10": {0, 100000}, "co2": {0, 4000000}, "temperature": {-4000, 8500},
	"humidity": {0, 10000}, "pm1": {0, 100000}, "pm4": {0, 100000}, "pressure": {30000, 110000},
	"no2": {0, 2000000}, "o3": {0, 2000000}, "co": {0, 120000000}, "so2": {0, 6000000},
	"voc_index": {100, 50000}, "nox_index": {100, 50000}, "tvoc": {0, 6000000}, "noise": {0, 14000},
}

func readingRule(version int) rule {
	expected := []named{{"sensor_id", sensorRule}, {"time_ms", countRule}, {"seq", countRule}}
	if version == 1 {
		for _, name := range quantities[:5] {
			expected = append(expected, named{name, orNull(valueRule)})
		}
		return fields(append(expected, named{"aqi", orNull(whole(0, 65535))})...)
	}
	return fields(append(expected,
		named{"area", text(0, 256, isControl)},
		named{"flags", whole(0, 1<<32-1)},
		named{"values", valuesRule},
		named{"aqi", orNull(whole(0, 65534))},
		named{"device", orNull(deviceRule)})...)
}

// An id that has no name here is that of a later quantity.
func valuesRule(value any) string {
	isID, before := whole(0, 65535), int64(-1)
	isPair := func(value any) string {
		pair, isList := value.([]any)
		if !isList || len(pair) != 2 || isID(pair[0]) != "" || valueRule(pair[1]) != "" {
			return "a pair of an id and a value"
		}
		id, _ := pair[0].(json.Number).Int64()
		if id <= before {
			return "of a larger id than the one before"
		}
		before = id
		return ""
	}
	return list(isPair, 0, 256)(value)
}

func deviceRule(value any) string {
	keys := map[string]string{
		"ed25519": "[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=",
		"p256":    "[A-Za-z0-9+/]{44}",
	}
	given, isObject := value.(object)
	if !isObject || len(given) == 0 {
		return "an object or null"
	}
	algorithm, _ := given[0].value.(string)
	key, isKnown := keys[algorithm]
	if !isKnown {
		return "of the algorithm ed25519 or p256"
	}
	return fields(
		named{"algorithm", func(any) string { return "" }},
		named{"public_key", pattern(key, "base64 of a public key")},
		named{"signature", pattern("[A-Za-z0-9+/]{85}[AQgw]==", "base64 of 64 bytes")},
		named{"text", text(1, 8192, func(rune) bool { return false })})(value)
}

func batchRule(version int) rule {
	numbers := list(countRule, 1, 8192)
	if version == 2 {
		numbers = list(countRule, 16, 16)
	}
	return fields(named{"index", countRule}, named{"prev_head", hashRule}, named{"root", hashRule},
		named{"first", countRule}, named{"last", countRule}, named{"count", countRule},
		named{"time_min_ms", countRule}, named{"time_max_ms", countRule}, named{"sealed_ms", countRule},
		named{"beacon", hashRule}, named{"n_first", numbers}, named{"n_last", numbers})
}

var anchorRule = fields(named{"chain_id", countRule}, named{"contract", addressRule}, named{"head", hashRule},
	named{"tx_hash", hashRule}, named{"tx_index", countRule}, named{"block_hash", hashRule},
	named{"block_number", countRule}, named{"block_time_s", countRule})

func textOf(value any, name string) string {
	given, _ := value.(object)
	for _, one := range given {
		if one.name == name {
			text, _ := one.value.(string)
			return text
		}
	}
	return ""
}

// readBundle is check 1.
func readBundle(data []byte) (*bundle, error) {
	value, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	format := textOf(value, "format")
	version := 1 + slices.Index(versions, format)
	if version == 0 {
		known := strings.Join(versions, ", ")
		if regexp.MustCompile(`\Aairproof\.proof\.v[0-9]{1,9}\z`).MatchString(format) {
			return nil, fmt.Errorf("its format is %s, and this verifier knows %s: get a newer verifier", format, known)
		}
		return nil, fmt.Errorf("its format is not one that this verifier knows (%s)", known)
	}
	if !bytes.Equal(canonical(value), data) {
		return nil, fmt.Errorf("the text is not canonical: written again it gives other bytes")
	}
	anything := func(any) string { return "" }
	expected := []named{{"format", anything}, {"level", pattern("proof|rpc", "proof or rpc")},
		{"reading_hash", hashRule}, {"reading", readingRule(version)}, {"path", list(hashRule, 0, 64)},
		{"batch", batchRule(version)}, {"anchor", anchorRule}}
	if textOf(value, "level") == "proof" {
		nodes := list(bytesRule, 1, 16)
		expected = append(expected, named{"block_header", bytesRule},
			named{"transaction_proof", nodes}, named{"receipt_proof", nodes})
	}
	if fault := fields(expected...)(value); fault != "" {
		return nil, fmt.Errorf("the bundle is not %s", fault)
	}
	found := bundle{version: version}
	if err := json.Unmarshal(data, &found); err != nil {
		return nil, err
	}
	if len(found.Batch.NFirst) != len(found.Batch.NLast) {
		return nil, fmt.Errorf("n_first and n_last have different lengths")
	}
	return &found, nil
}

func numberText(number int64) string { return strconv.FormatInt(number, 10) }
