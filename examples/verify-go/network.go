package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"unicode"
)

// network is what the user expects of a bundle: its chain, and where each contract begins and ends.
type network struct {
	name          string
	chainID       int64
	demonstration bool
	contracts     []contract
}

type contract struct {
	address        string
	version, block int64
	// -1: it is in use
	lastBatch int64
	// nil in all contracts: the file does not say where they begin and end. ends is nil too where
	// the contract is in use, or no batch of it counts
	begins *beginning
	ends   *ending
}

type beginning struct {
	after   int64
	head    string
	numbers []int64
}

type ending struct {
	block, txIndex int64
	head           string
	numbers        []int64
}

const networkFormat = "airproof.network.v1"

// get is nil where there is no such field. The last one of a name counts.
func get(value any, name string) any {
	given, _ := value.(object)
	for _, one := range slices.Backward(given) {
		if one.name == name {
			return one.value
		}
	}
	return nil
}

func has(value any, name string) bool {
	given, _ := value.(object)
	return slices.ContainsFunc(given, func(one field) bool { return one.name == name })
}

func isObject(value any) string {
	if _, isObject := value.(object); !isObject {
		return "an object"
	}
	return ""
}

func isBool(value any) string {
	if _, isBool := value.(bool); !isBool {
		return "true or false"
	}
	return ""
}

// A terminal obeys control characters.
var lineRule = text(1, 200, func(letter rune) bool { return unicode.In(letter, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) })

// all demands the fields that are named, and passes over others.
func all(expected ...named) rule {
	return func(value any) string {
		for _, one := range expected {
			if one.is(get(value, one.name)) != "" {
				return one.name
			}
		}
		return isObject(value)
	}
}

var (
	networkRule  = all(named{"name", lineRule}, named{"chain", isObject}, named{"contracts", list(isObject, 1, 1000)})
	chainRule    = all(named{"id", countRule}, named{"demonstration", isBool})
	contractRule = all(named{"address", addressRule}, named{"version", countRule}, named{"block", countRule},
		named{"code_hash", hashRule}, named{"owner_at", list(countRule, 0, 100)}, named{"last_batch", orNull(countRule)})
	numbersRule = list(countRule, 16, 16)
	rangeRule   = all(
		named{"begins", all(named{"after_batch", countRule}, named{"head", hashRule}, named{"numbers", numbersRule})},
		named{"ends", orNull(all(named{"block", countRule}, named{"tx_index", countRule}, named{"head", hashRule},
			named{"numbers", numbersRule}))})
)

func numberOf(value any) int64 {
	number, _ := value.(json.Number).Int64()
	return number
}

func numbersOf(value any) []int64 {
	numbers := []int64{}
	for _, one := range value.([]any) {
		numbers = append(numbers, numberOf(one))
	}
	return numbers
}

// readNetwork returns an error if the file pins nothing.
func readNetwork(data []byte) (*network, error) {
	value, err := parseJSON(data)
	if err != nil {
		return nil, errors.New("the network file is not JSON in UTF-8")
	}
	if format := textOf(value, "format"); format != networkFormat {
		if regexp.MustCompile(`\Aairproof\.network\.v[0-9]{1,9}\z`).MatchString(format) {
			return nil, fmt.Errorf("the format of the network file is %s, and this verifier knows %s: get a newer verifier", format, networkFormat)
		}
		return nil, fmt.Errorf("this is not a network file: its format is not %s", networkFormat)
	}
	if has(value, "chain") && get(value, "chain") == nil {
		return nil, errors.New("this network has anchored nothing yet: there is nothing to pin")
	}
	need := func(place string, value any, is rule) {
		if fault := is(value); fault != "" && err == nil {
			err = fmt.Errorf("the network file has no %s%s, or not one of the right kind", place, fault)
		}
	}
	need("", value, networkRule)
	need("chain.", get(value, "chain"), chainRule)
	if err != nil {
		return nil, err
	}
	rows := get(value, "contracts").([]any)
	hasRanges := slices.ContainsFunc(rows, func(row any) bool { return has(row, "begins") || has(row, "ends") })
	found := &network{name: textOf(value, "name"), chainID: numberOf(get(get(value, "chain"), "id"))}
	found.demonstration, _ = get(get(value, "chain"), "demonstration").(bool)
	for _, row := range rows {
		need("contracts.", row, contractRule)
		if hasRanges && !has(row, "ends") {
			need("contracts.", row, func(any) string { return "ends" })
		}
		if hasRanges {
			need("contracts.", row, rangeRule)
		}
		if err != nil {
			return nil, err
		}
		found.contracts = append(found.contracts, contractOf(row, hasRanges))
	}
	if hasRanges && !areOneStory(found.contracts) {
		return nil, errors.New("in the network file a contract does not go on where the one before it ends: two of them could hold the same number")
	}
	return found, nil
}

func contractOf(row any, hasRanges bool) contract {
	of := contract{address: textOf(row, "address"), version: numberOf(get(row, "version")), block: numberOf(get(row, "block")), lastBatch: -1}
	if last := get(row, "last_batch"); last != nil {
		of.lastBatch = numberOf(last)
	}
	if !hasRanges {
		return of
	}
	begins, ends := get(row, "begins"), get(row, "ends")
	of.begins = &beginning{numberOf(get(begins, "after_batch")), textOf(begins, "head"), numbersOf(get(begins, "numbers"))}
	if ends != nil {
		of.ends = &ending{numberOf(get(ends, "block")), numberOf(get(ends, "tx_index")), textOf(ends, "head"), numbersOf(get(ends, "numbers"))}
	}
	return of
}

// areOneStory is whether each contract in which batches count begins where the one before it ends, the first one at zero.
func areOneStory(contracts []contract) bool {
	batch, numbers := int64(0), make([]int64, 16)
	for _, one := range contracts {
		if one.lastBatch >= 0 && one.lastBatch <= one.begins.after {
			continue
		}
		if one.begins.after != batch || !slices.Equal(one.begins.numbers, numbers) || (one.lastBatch < 0) != (one.ends == nil) {
			return false
		}
		batch, numbers = one.lastBatch, nil
		if one.ends != nil {
			numbers = one.ends.numbers
		}
	}
	return true
}

// find is the contract of the network that the bundle is of, or nil.
func (of *network) find(address string) *contract {
	at := slices.IndexFunc(of.contracts, func(one contract) bool { return one.address == address })
	if at < 0 {
		return nil
	}
	return &of.contracts[at]
}

func (of *network) check(found *bundle) error {
	anchor, index := found.Anchor, found.Batch.Index
	if anchor.ChainID != of.chainID {
		return fmt.Errorf("it is on chain %d, and the network %s is on chain %d", anchor.ChainID, of.name, of.chainID)
	}
	pinned := of.find(anchor.Contract)
	switch {
	case pinned == nil:
		return fmt.Errorf("it is of contract %s, which is not one of the network %s", anchor.Contract, of.name)
	case pinned.version != int64(found.version):
		return fmt.Errorf("its contract is of version %d, and its batch of version %d", pinned.version, found.version)
	case anchor.BlockNumber < pinned.block:
		return fmt.Errorf("it is in block %d, and its contract began in block %d", anchor.BlockNumber, pinned.block)
	case pinned.lastBatch >= 0 && index > pinned.lastBatch:
		return fmt.Errorf("it is of batch %d, and its contract counts up to batch %d only", index, pinned.lastBatch)
	case pinned.begins == nil:
		return nil
	}
	return pinned.checkRange(anchor, found.Batch)
}

// checkRange: another contract of the network holds what is before the beginning and after the end.
func (of *contract) checkRange(anchor anchor, batch batch) error {
	begins, ends := of.begins, of.ends
	if batch.Index <= begins.after {
		return fmt.Errorf("it is of batch %d, and its contract counts after batch %d only", batch.Index, begins.after)
	}
	if batch.Index == begins.after+1 && batch.PrevHead != begins.head {
		return errors.New("it is of the first batch of its contract, which began with another head")
	}
	if len(batch.NFirst) != 16 {
		return fmt.Errorf("its batch has %d partitions, and the network 16", len(batch.NFirst))
	}
	for p, first := range batch.NFirst {
		before, last := begins.numbers[p], batch.NLast[p]
		if first <= before || ends != nil && last > ends.numbers[p] {
			upTo := ""
			if ends != nil {
				upTo = " up to " + numberText(ends.numbers[p])
			}
			return fmt.Errorf("its batch has numbers %d to %d of partition %d, and its contract counts those after %d%s only", first, last, p, before, upTo)
		}
	}
	if ends == nil {
		return nil
	}
	if anchor.BlockNumber > ends.block || anchor.BlockNumber == ends.block && anchor.TxIndex > ends.txIndex {
		return fmt.Errorf("it is in transaction %d of block %d, and its contract counts up to transaction %d of block %d only",
			anchor.TxIndex, anchor.BlockNumber, ends.txIndex, ends.block)
	}
	if batch.Index == of.lastBatch && anchor.Head != ends.head {
		return errors.New("it is of the last batch of its contract, which left another head")
	}
	return nil
}

// inWords is what the file pins, and what it does not.
func (of *network) inWords(address string) []string {
	lines := []string{"not asked: whether the code of the contract is that of the network file: only a node knows it, and this program asks none"}
	if of.find(address).begins == nil {
		lines = append(lines,
			"not asked: whether it is within what its contract holds: the network file does not say where each contract begins and ends, get a newer one",
			fmt.Sprintf("on trust: no other contract of the network %s holds a reading of the same number, and no thief anchored it after its contract was given up: the network file does not say where each contract begins and ends", of.name))
	}
	return lines
}
