/** Parses the first rows of CSV text. */

/** Columns, and characters of a value. */
const COLUMNS = 12;
const LONGEST = 80;

/** The first `most` rows, each of at most 12 values, with quotes as in RFC 4180. */
export function firstRows(
  text: string,
  delimiter: string,
  most: number
): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let value = '';
  let quoted = false;
  let place = 0;
  const endValue = () => {
    if (row.length < COLUMNS) {
      row.push(value.length > LONGEST ? `${value.slice(0, LONGEST)}…` : value);
    }
    value = '';
  };
  const endRow = () => {
    endValue();
    if (row.length > 1 || row[0]) {
      rows.push(row);
    }
    row = [];
  };
  for (; place < text.length && rows.length < most; place++) {
    const character = text[place];
    if (quoted) {
      if (character !== '"') {
        value += value.length <= LONGEST ? character : '';
      } else if (text[place + 1] === '"') {
        value += '"';
        place++;
      } else {
        quoted = false;
      }
    } else if (character === '"' && !value) {
      quoted = true;
    } else if (character === delimiter) {
      endValue();
    } else if (character === '\n' || character === '\r') {
      endRow();
    } else {
      value += value.length <= LONGEST ? character : '';
    }
  }
  if (rows.length < most && (value || row.length)) {
    endRow();
  }
  return rows;
}
