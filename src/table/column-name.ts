/** Characters of a column's name in a message. */
const LONGEST = 80;

/** The code for a column, such as `sales.region`, in backticks and on one short line. */
export function columnIn(table: string, label: string): string {
  const line = label.replace(/[\p{Cc}`]+/gu, ' ');
  const short = line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
  return /^[A-Za-z_]\w*$/.test(short)
    ? `\`${table}.${short}\``
    : `\`${table}[${JSON.stringify(short)}]\``;
}
