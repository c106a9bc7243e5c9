/** What frames of a wire look like (RFC 4761, section 3.2.4; RFC 6624, section 3.1). */
export const layer2Encapsulation = { ethernet: 5, vpls: 19 } as const;

export interface Layer2Information {
  readonly encapsulation: number;
  readonly mtu: number;
  readonly hasControlWord: boolean;
}

const [high, low] = [0x80, 0x0a];
const controlWordFlag = 2;

/** The extended community of blocks of labels. */
export const layer2Information = ({ encapsulation, mtu, hasControlWord }: Layer2Information): Uint8Array =>
  Uint8Array.of(high, low, encapsulation, hasControlWord ? controlWordFlag : 0, mtu >>> 8, mtu & 255, 0, 0);

/** Reads the community; undefined: it is another one. */
export const findLayer2Information = (bytes: Uint8Array, at = 0): Layer2Information | undefined => {
  if (bytes[at] !== high || bytes[at + 1] !== low) return undefined;
  return {
    encapsulation: bytes[at + 2] as number,
    mtu: ((bytes[at + 4] as number) << 8) | (bytes[at + 5] as number),
    hasControlWord: ((bytes[at + 3] as number) & controlWordFlag) !== 0,
  };
};

export const layer2InformationText = (bytes: Uint8Array, at: number): string => {
  const { encapsulation, mtu, hasControlWord } = findLayer2Information(bytes, at) as Layer2Information;
  return `L2:encapsulation ${encapsulation} MTU ${mtu}${hasControlWord ? ' control word' : ''}`;
};
