/** Ports that are no ports, as the lower 16 bits of their numbers; versions differ in the upper ones. */
export const specialPort = {
  ...{ inPort: 0xfff8, table: 0xfff9, normal: 0xfffa, flood: 0xfffb, all: 0xfffc, controller: 0xfffd, any: 0xffff },
} as const;

const outputAction = 0;
const instruction = { goto: 1, writeActions: 3, applyActions: 4, clearActions: 5 } as const;

/** The number of a port, with those that are no ports as in version 1.0. */
const portOf = (port: number): number => (port >= 0xffffff00 ? port & 0xffff : port);

/** Ports that actions [at, end) send a packet to; other actions are carried by the flow and change nothing. */
export const outputsOf = (view: DataView, at: number, end: number, version: number): number[] => {
  const ports: number[] = [];
  for (let from = at; from + 8 <= end; ) {
    const length = view.getUint16(from + 2);
    if (length < 8 || from + length > end) break;
    if (view.getUint16(from) === outputAction)
      ports.push(version === 1 ? view.getUint16(from + 4) : portOf(view.getUint32(from + 4)));
    from += length;
  }
  return ports;
};

/** What the instructions of a flow do: ports, and the table that goes on. */
export interface FlowEffect {
  readonly ports: readonly number[];
  readonly next: number | undefined;
}

export const effectOf = (bytes: Uint8Array, version: number): FlowEffect => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (version === 1) return { ports: outputsOf(view, 0, bytes.length, version), next: undefined };
  const ports: number[] = [];
  let next: number | undefined;
  for (let at = 0; at + 8 <= bytes.length; ) {
    const [type, length] = [view.getUint16(at), view.getUint16(at + 2)];
    if (length < 8 || at + length > bytes.length) break;
    if (type === instruction.goto) next = view.getUint8(at + 4);
    if (type === instruction.writeActions || type === instruction.applyActions)
      ports.push(...outputsOf(view, at + 8, at + length, version));
    if (type === instruction.clearActions) ports.length = 0;
    at += length;
  }
  return { ports, next };
};
