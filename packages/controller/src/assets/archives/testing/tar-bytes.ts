/** One tar header with its content, with every field that a hostile archive may lie about. */
export interface TarMemberBytes {
  readonly name: string;
  readonly content?: Buffer;
  /** One character; default `0`, a file. */
  readonly type?: string;
  readonly link?: string;
  /** The twelve bytes of the size field. */
  readonly sizeField?: Buffer;
  readonly checksum?: number;
}

const block = 512;

export function tarBytes(members: readonly TarMemberBytes[], hasEnd = true): Buffer {
  const end = hasEnd ? [Buffer.alloc(2 * block)] : [];
  return Buffer.concat([...members.map(tarMemberBytes), ...end]);
}

export function tarMemberBytes(member: TarMemberBytes): Buffer {
  const content = member.content ?? Buffer.alloc(0);
  const header = Buffer.alloc(block);
  header.write(member.name, 0, 100);
  header.write('0000644\x000000000\x000000000\0', 100, 'latin1');
  const size = member.sizeField ?? Buffer.from(`${content.length.toString(8).padStart(11, '0')}\0`);
  size.copy(header, 124);
  header.write('00000000000\0        ', 136, 'latin1');
  header.write(member.type ?? '0', 156, 'latin1');
  header.write(member.link ?? '', 157, 100);
  header.write('ustar\x0000', 257, 'latin1');
  const sum = member.checksum ?? header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return Buffer.concat([header, content, Buffer.alloc((block - (content.length % block)) % block)]);
}

/** An extended header that gives the next member other properties. */
export function paxBytes(properties: Readonly<Record<string, string>>, type = 'x'): Buffer {
  const records = Object.entries(properties).map(([key, value]) => paxRecord(` ${key}=${value}\n`));
  return tarMemberBytes({ name: 'pax', type, content: Buffer.from(records.join('')) });
}

/** The length of a record counts its own digits. */
function paxRecord(text: string): string {
  const rest = Buffer.byteLength(text);
  const length = [1, 2, 3, 4, 5, 6, 7].map((digits) => rest + digits).find((sum) => `${sum}`.length + rest === sum);
  return `${length}${text}`;
}
