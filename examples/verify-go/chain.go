package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
)

// readBlock gives the roots of the tries of transactions and of receipts.
func readBlock(raw []byte, in anchor) (transactions, receipts []byte, err error) {
	if !bytes.Equal(keccak(raw), unhex(in.BlockHash)) {
		return nil, nil, errors.New("the header has another hash than block_hash")
	}
	items, err := readList(raw)
	if err == nil && len(items) < 15 {
		err = errors.New("the header has fewer than 15 items")
	}
	if err != nil {
		return nil, nil, err
	}
	for at, expected := range map[int]int64{8: in.BlockNumber, 11: in.BlockTimeS} {
		number, err := numberAt(items, at)
		if err != nil || number.Cmp(big.NewInt(expected)) != 0 {
			return nil, nil, fmt.Errorf("item %d of the header is another number", at)
		}
	}
	transactions, err = bytesAt(items, 4)
	if err != nil {
		return nil, nil, err
	}
	receipts, err = bytesAt(items, 5)
	return transactions, receipts, err
}

// split gives the type of a transaction or receipt, -1 for the old kind, and its list.
func split(raw []byte) (int, []item, error) {
	if len(raw) == 0 {
		return 0, nil, errors.New("it is empty")
	}
	if raw[0] >= 0xc0 {
		items, err := readList(raw)
		return -1, items, err
	}
	items, err := readList(raw[1:])
	return int(raw[0]), items, err
}

// places says where a list of each type has the chain id, the address called and the data.
var places = map[int][3]int{-1: {6, 3, 5}, 1: {0, 4, 6}, 2: {0, 5, 7}, 3: {0, 5, 7}, 4: {0, 5, 7}, 0x7e: {-1, 2, 7}}

func checkTransaction(raw []byte, in anchor, isCall func(data []byte) bool) (int, error) {
	if !bytes.Equal(keccak(raw), unhex(in.TxHash)) {
		return 0, errors.New("the transaction in the block has another hash than tx_hash")
	}
	kind, items, err := split(raw)
	if err != nil {
		return 0, err
	}
	place, isKnown := places[kind]
	if !isKnown {
		return 0, fmt.Errorf("transactions of type %d are not known", kind)
	}
	if place[0] >= 0 {
		chain, err := numberAt(items, place[0])
		if err != nil {
			return 0, err
		}
		if kind == -1 {
			if chain.Cmp(big.NewInt(35)) < 0 {
				return 0, errors.New("the transaction names no chain")
			}
			chain.Sub(chain, big.NewInt(35)).Rsh(chain, 1)
		}
		if chain.Cmp(big.NewInt(in.ChainID)) != 0 {
			return 0, fmt.Errorf("the transaction is for chain %s", chain)
		}
	}
	called, err := bytesAt(items, place[1])
	if err != nil || !bytes.Equal(called, unhex(in.Contract)) {
		return 0, errors.New("the transaction calls another address than the contract")
	}
	data, err := bytesAt(items, place[2])
	if err != nil || !isCall(data) {
		return 0, errors.New("the data of the transaction do not anchor this batch")
	}
	return kind, nil
}

func checkReceipt(raw []byte, kind int, contract []byte, topics [][]byte, data []byte) error {
	receiptKind, items, err := split(raw)
	if err != nil {
		return err
	}
	if receiptKind != kind {
		return errors.New("the receipt has another type than the transaction")
	}
	status, err := bytesAt(items, 0)
	if err != nil || !bytes.Equal(status, []byte{1}) {
		return errors.New("the transaction failed")
	}
	if len(items) < 4 || !items[3].isList {
		return errors.New("the receipt has no list of logs")
	}
	for _, log := range items[3].list {
		if isLog(log, contract, topics, data) {
			return nil
		}
	}
	return errors.New("no log of the contract is about this batch")
}

func isLog(log item, contract []byte, topics [][]byte, data []byte) bool {
	if len(log.list) != 3 || log.list[0].isList || log.list[2].isList || len(log.list[1].list) != len(topics) {
		return false
	}
	for at, topic := range topics {
		if log.list[1].list[at].isList || !bytes.Equal(log.list[1].list[at].bytes, topic) {
			return false
		}
	}
	return bytes.Equal(log.list[0].bytes, contract) && bytes.Equal(log.list[2].bytes, data)
}
