// Checks airproof proof bundles, offline. Written from docs/proofs.md, and the names of the checks are
// those of that page.
//
//	go run . [-network FILE] [-chain-id N] [-contract 0x...] [-block-hash 0x...] FILE...
//
// Exit code 0: every bundle is proven. 1: one was refused, and the reason is printed. 2: called wrongly.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strings"
	"time"
)

// pins is what the user expects. What is empty is not asked.
type pins struct {
	chainID             int64
	contract, blockHash string
	network             *network
}

// refusal is a check that failed, with the reason in words.
type refusal struct {
	check string
	why   error
}

func (r *refusal) Error() string { return r.check + ": " + r.why.Error() }

func verify(data []byte, named pins) (found *bundle, passed []string, err error) {
	check := func(name string, fault error) bool {
		if fault != nil {
			err = &refusal{name, fault}
			return false
		}
		passed = append(passed, name)
		return true
	}
	isSame := func(text string, bytesMade []byte) error {
		if !bytes.Equal(unhex(text), bytesMade) {
			return fmt.Errorf("%s is not %s", text, toHex(bytesMade))
		}
		return nil
	}
	found, fault := readBundle(data)
	if !check("format", fault) {
		return
	}
	version, reading, batch, anchor := found.version, found.Reading, found.Batch, found.Anchor
	if (named.chainID >= 0 || named.contract != "" || named.network != nil) && !check("pins", checkPins(found, named)) {
		return
	}
	leaf := leafOf(reading, version)
	if !check("leaf", isSame(found.ReadingHash, leaf)) {
		return
	}
	if reading.Device != nil &&
		(!check("signed text", checkSignedText(reading)) || !check("signature", checkSignature(reading.Device))) {
		return
	}
	if version == 1 && !check("path", isSame(batch.Root, foldSorted(leaf, found.Path))) {
		return
	}
	if !check("batch", checkBatch(reading, batch, version)) {
		return
	}
	// in version 2 the batch's numbers say where in the tree the reading is
	if version == 2 {
		root, fault := foldPlaced(leaf, found.Path, reading.Seq, batch)
		if fault == nil {
			fault = isSame(batch.Root, root)
		}
		if !check("path", fault) {
			return
		}
	}
	expected := onChainOf(batch, version)
	if !check("head", isSame(anchor.Head, expected.head)) {
		return
	}
	if found.Level == "proof" && !checkChain(found, expected, check) {
		return
	}
	if named.blockHash != "" && !check("trusted block", isSame(named.blockHash, unhex(anchor.BlockHash))) {
		return
	}
	if found.Level == "rpc" {
		check("node", fmt.Errorf("a bundle of level rpc proves nothing without asking a node, and this program asks none"))
	}
	return
}

func checkPins(found *bundle, named pins) error {
	anchor := found.Anchor
	if named.chainID >= 0 && named.chainID != anchor.ChainID {
		return fmt.Errorf("it is on chain %d, not %d", anchor.ChainID, named.chainID)
	}
	if named.contract != "" && named.contract != anchor.Contract {
		return fmt.Errorf("it is of contract %s, not %s", anchor.Contract, named.contract)
	}
	if named.network != nil {
		return named.network.check(found)
	}
	return nil
}

// checkChain leads from the hash of the block to what the contract said.
func checkChain(found *bundle, expected onChain, check func(name string, fault error) bool) bool {
	anchor := found.Anchor
	transactions, receipts, fault := readBlock(unhex(found.BlockHeader), anchor)
	if !check("block", fault) {
		return false
	}
	key := rlpNumber(anchor.TxIndex)
	kind := 0
	raw, fault := trieValue(transactions, key, found.TransactionProof)
	if fault == nil {
		kind, fault = checkTransaction(raw, anchor, expected.isCall)
	}
	if !check("transaction", fault) {
		return false
	}
	raw, fault = trieValue(receipts, key, found.ReceiptProof)
	if fault == nil {
		topics := [][]byte{expected.topic, word(found.Batch.Index), unhex(found.Batch.Root), expected.head}
		fault = checkReceipt(raw, kind, unhex(anchor.Contract), topics, expected.data)
	}
	return check("receipt", fault)
}

// inWords is what is proven, and what is left to trust.
func inWords(of *bundle, named pins) []string {
	reading, batch, anchor := of.Reading, of.Batch, of.Anchor
	lines := []string{fmt.Sprintf("proven: the reading of sensor %s of %s existed with its values when block %d was made, %s",
		reading.SensorID, utc(reading.TimeMs/1000), anchor.BlockNumber, utc(anchor.BlockTimeS))}
	say := func(format string, values ...any) { lines = append(lines, fmt.Sprintf(format, values...)) }
	for _, value := range valuesOf(of) {
		say("  %s", value)
	}
	var begins *beginning
	other := ""
	if named.network != nil {
		begins = named.network.find(anchor.Contract).begins
	}
	if begins != nil {
		other = fmt.Sprintf("; and no other contract of the network %s counts for that number", named.network.name)
	}
	if of.version == 2 {
		say("proven: this is reading number %d of partition %d; in contract %s, from its beginning on, no other reading bears that number, and every number from there up to it has its place in batch %d or an earlier one: it takes no other batch%s",
			reading.Seq%perPartition, reading.Seq/perPartition, anchor.Contract, batch.Index, other)
	}
	if reading.Device != nil {
		say("proven: it was made by the holder of the %s key %s", reading.Device.Algorithm, reading.Device.PublicKey)
	}
	if isDemonstration(of, named) {
		say("on trust: the time of the block: the chain is a demonstration chain; it proves nothing about time, because the operator runs this chain")
	}
	if named.blockHash == "" {
		say("on trust: %s is a block of chain %d; compare it", anchor.BlockHash, anchor.ChainID)
	}
	if named.network != nil {
		lines = append(lines, named.network.inWords(anchor.Contract)...)
	} else if named.chainID < 0 || named.contract == "" {
		say("not asked: whether it is of the network that you mean: name its chain and its contract")
		say("on trust: %s on chain %d is the network's contract", anchor.Contract, anchor.ChainID)
	}
	say("on trust: the sensor measured what it sent")
	say("on trust: the index (aqi) is that of these values: the operator computes it, and it is not checked here")
	if of.version == 1 {
		return append(lines, fmt.Sprintf("on trust: no other reading has the same number, and batch %d holds as many as it counts (%d)", batch.Index, batch.Count))
	}
	say("on trust: contract %s has the code of version 2, which takes no number twice and leaves none out", anchor.Contract)
	// the first batch of a contract that began at zero has nothing before it
	isFirst := batch.Index == 1 && !slices.ContainsFunc(batch.NFirst, func(first int64) bool { return first != 1 })
	if !isFirst && begins != nil {
		say("on trust: contract %s began where the network file says, after batch %d, so that nothing is left out before: `airproof audit` asks the chain", anchor.Contract, begins.after)
	} else if !isFirst {
		say("on trust: what is before the beginning of contract %s, unless it began at zero: no other reading bears that number there, and none is left out", anchor.Contract)
	}
	say("on trust: the sensor has no second reading of the same time under another number")
	if reading.Device == nil {
		say("on trust: the sensor sent it: it is not signed, so the operator could have made it up")
	} else {
		say("on trust: the %s key %s is that of sensor %s: compare it with the keys that /v1/network/keys/%s of the network's API lists, as you kept them",
			reading.Device.Algorithm, reading.Device.PublicKey, reading.SensorID, reading.SensorID)
		if last := len(reading.Values) - 1; last >= 0 && reading.Values[last][0] >= int64(len(quantities)) {
			say("on trust: the values without a name are those that were signed: get a newer verifier")
		}
		if strange := strangeNames(reading.Device.Text); len(strange) > 0 {
			say("on trust: nothing which was signed as %s was left out: this program does not know such a value", strings.Join(strange, ", "))
		}
	}
	return lines
}

// valuesOf shows each value with its name. A later quantity has none here.
func valuesOf(of *bundle) []string {
	reading := of.Reading
	var lines []string
	show := func(name string, hundredths int64) {
		lines = append(lines, fmt.Sprintf("%s %s", name, new(big.Rat).SetFrac64(hundredths, 100).FloatString(2)))
	}
	for id, value := range []*int64{reading.PM25, reading.PM10, reading.CO2, reading.Temperature, reading.Humidity} {
		if value != nil {
			show(quantities[id], *value)
		}
	}
	for _, pair := range reading.Values {
		name := fmt.Sprintf("quantity %d", pair[0])
		if pair[0] < int64(len(quantities)) {
			name = quantities[pair[0]]
		}
		show(name, pair[1])
	}
	if reading.Aqi != nil {
		lines = append(lines, fmt.Sprintf("aqi %d", *reading.Aqi))
	}
	if of.version == 2 {
		lines = append(lines, fmt.Sprintf("area %s", reading.Area), fmt.Sprintf("flags %d", reading.Flags))
	}
	return lines
}

// demonstrationChain is the one that anvil runs on the operator's own machine.
const demonstrationChain = 31337

func isDemonstration(of *bundle, named pins) bool {
	return of.Anchor.ChainID == demonstrationChain || named.network != nil && named.network.demonstration
}

func utc(seconds int64) string { return time.Unix(seconds, 0).UTC().Format(time.RFC3339) }

// filesAmong reads the options, which may be before, between and after the files.
func filesAmong(args []string) []string {
	var files []string
	for {
		// with a wrong option it ends the program
		flag.CommandLine.Parse(args)
		rest := flag.Args()
		if len(rest) == 0 {
			return files
		}
		if read := len(args) - len(rest); read > 0 && args[read-1] == "--" {
			return append(files, rest...)
		}
		files, args = append(files, rest[0]), rest[1:]
	}
}

func main() {
	chainID := flag.Int64("chain-id", -1, "the chain of the network")
	contract := flag.String("contract", "", "the contract of the network")
	blockHash := flag.String("block-hash", "", "the hash of the block, from a source that you trust")
	networkFile := flag.String("network", "", "the file of the network, from a source that you trust")
	files := filesAmong(os.Args[1:])
	named := pins{*chainID, strings.ToLower(*contract), strings.ToLower(*blockHash), nil}
	isCalledRightly := (named.contract == "" || addressRule(named.contract) == "") &&
		(named.blockHash == "" || hashRule(named.blockHash) == "")
	if len(files) == 0 || !isCalledRightly {
		flag.Usage()
		os.Exit(2)
	}
	if *networkFile != "" {
		data, err := os.ReadFile(*networkFile)
		if err == nil {
			named.network, err = readNetwork(data)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	code := 0
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		found, passed, err := verify(data, named)
		if err != nil {
			fmt.Printf("%s: refused, %s\n", name, err)
			code = 1
			continue
		}
		demonstration := ""
		if isDemonstration(found, named) {
			demonstration = ", on a demonstration chain"
		}
		fmt.Printf("%s: proven%s\n  ok %s\n  %s\n", name, demonstration, strings.Join(passed, ", "), strings.Join(inWords(found, named), "\n  "))
	}
	os.Exit(code)
}
