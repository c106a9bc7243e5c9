/** The value of a parameter inside a message. */
export interface Field {
  readonly name: string;
  readonly description: string;
  readonly type: 'string' | 'u16be' | 'u16le' | 'u32be' | 'u32le';
  readonly source: 'fixed' | 'random';
  /** The bytes in the capture. */
  readonly recorded: Uint8Array;
  readonly max: string;
}

/** A text that the user of the application chooses. */
export const field = (name: string, value: string, description: string): Field => ({
  ...{ name, description, type: 'string', source: 'fixed', max: '' },
  recorded: new Uint8Array(Buffer.from(value)),
});

/** A number that is drawn anew in every iteration, such as the id of a transaction. */
export const drawn16 = (name: string, description: string, type: 'u16be' | 'u16le' = 'u16be'): Field => ({
  ...{ name, description, type, source: 'random', max: '65535' },
  recorded: Uint8Array.of(0x4a, 0x17),
});
export const drawn32 = (name: string, description: string, type: 'u32be' | 'u32le' = 'u32be'): Field => ({
  ...{ name, description, type, source: 'random', max: '2147483647' },
  recorded: Uint8Array.of(0x12, 0x34, 0x56, 0x78),
});
