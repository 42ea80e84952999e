package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// object keeps the order of its fields, which is part of the format, and a field that is there twice.
type object []field

type field struct {
	name  string
	value any
}

var errNesting = errors.New("the file is nested too deeply")

// parseJSON gives null as nil, and each number as its own text.
func parseJSON(data []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	value, err := readValue(decoder, 0)
	if err != nil {
		return nil, errors.New("the file is not JSON in UTF-8")
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("there is something after the end of the JSON")
	}
	return value, nil
}

func readValue(decoder *json.Decoder, depth int) (any, error) {
	if depth > 64 {
		return nil, errNesting
	}
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('['):
		list := []any{}
		for decoder.More() {
			value, err := readValue(decoder, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		_, err = decoder.Token()
		return list, err
	case json.Delim('{'):
		fields := object{}
		for decoder.More() {
			name, err := decoder.Token()
			if err != nil {
				return nil, err
			}
			text, isText := name.(string)
			if !isText {
				return nil, errors.New("the name of a field is not text")
			}
			value, err := readValue(decoder, depth+1)
			if err != nil {
				return nil, err
			}
			fields = append(fields, field{text, value})
		}
		_, err = decoder.Token()
		return fields, err
	}
	return token, nil
}

// canonical writes a value in the one form that the format allows. encoding/json escapes more.
func canonical(value any) []byte {
	var out bytes.Buffer
	write(&out, value)
	return append(out.Bytes(), '\n')
}

func write(out *bytes.Buffer, value any) {
	switch value := value.(type) {
	case nil:
		out.WriteString("null")
	case bool:
		fmt.Fprint(out, value)
	case json.Number:
		out.WriteString(value.String())
	case string:
		writeText(out, value)
	case []any:
		out.WriteByte('[')
		for at, one := range value {
			comma(out, at)
			write(out, one)
		}
		out.WriteByte(']')
	case object:
		out.WriteByte('{')
		for at, one := range value {
			comma(out, at)
			writeText(out, one.name)
			out.WriteByte(':')
			write(out, one.value)
		}
		out.WriteByte('}')
	}
}

func comma(out *bytes.Buffer, at int) {
	if at > 0 {
		out.WriteByte(',')
	}
}

var escapes = map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\t': `\t`, '\n': `\n`, '\f': `\f`, '\r': `\r`}

func writeText(out *bytes.Buffer, text string) {
	out.WriteByte('"')
	for _, letter := range text {
		escape, isKnown := escapes[letter]
		switch {
		case isKnown:
			out.WriteString(escape)
		case letter < 0x20:
			fmt.Fprintf(out, `\u%04x`, letter)
		default:
			out.Write(utf8.AppendRune(nil, letter))
		}
	}
	out.WriteByte('"')
}
