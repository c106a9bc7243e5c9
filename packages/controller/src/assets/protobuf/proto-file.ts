import { ProtoTokens } from './proto-tokens.ts';

export interface ProtoField {
  readonly name: string;
  readonly number: number;
  /** A scalar type, or the name of a message or enumeration as it was written. */
  readonly type: string;
  readonly isRepeated: boolean;
  /** Written even when it has its default value. */
  readonly hasPresence: boolean;
  /** Type of the keys of a map. */
  readonly keyType?: string;
}

export interface ProtoMethod {
  readonly input: string;
  readonly output: string;
  readonly streamsIn: boolean;
  readonly streamsOut: boolean;
  /** Where names are looked for. */
  readonly scope: string;
}

/** What a `.proto` file describes; full names begin without a dot. */
export interface ProtoFile {
  readonly messages: ReadonlyMap<string, readonly ProtoField[]>;
  readonly enums: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** By path, such as /shop.Cart/Add. */
  readonly methods: ReadonlyMap<string, ProtoMethod>;
}

const maxDepth = 32;
const maxFieldNumber = 2 ** 29 - 1;

const join = (scope: string, name: string): string => (scope === '' ? name : `${scope}.${name}`);

/** The full name of a type that was written inside `scope`; undefined if the file has none. */
export const findProtoType = (file: ProtoFile, scope: string, written: string): string | undefined => {
  const isKnown = (name: string) => file.messages.has(name) || file.enums.has(name);
  if (written.startsWith('.')) return isKnown(written.slice(1)) ? written.slice(1) : undefined;
  for (let at = scope; ; at = at.slice(0, Math.max(0, at.lastIndexOf('.')))) {
    const name = join(at, written);
    if (isKnown(name)) return name;
    if (at === '') return undefined;
  }
};

class ProtoReader {
  readonly messages = new Map<string, ProtoField[]>();
  readonly enums = new Map<string, Map<string, number>>();
  readonly methods = new Map<string, ProtoMethod>();
  readonly #tokens: ProtoTokens;
  #package = '';

  constructor(source: string) {
    this.#tokens = new ProtoTokens(source);
  }

  readFile(): void {
    const tokens = this.#tokens;
    while (!tokens.isAtEnd) {
      const word = tokens.take();
      if (word === 'syntax') this.#readSyntax();
      else if (word === 'package') {
        this.#package = tokens.name();
        tokens.expect(';');
      } else if (word === 'message') this.#readMessage(this.#package, 0);
      else if (word === 'enum') this.#readEnum(this.#package);
      else if (word === 'service') this.#readService();
      else if (word === 'option') tokens.skipStatement();
      else if (word === 'import') tokens.fail('imports are not read: put everything into one file');
      else if (word !== ';') tokens.fail(`"${word}" is not known here`);
    }
  }

  #readSyntax(): void {
    const tokens = this.#tokens;
    tokens.expect('=');
    if (!/^["']proto3["']$/.test(tokens.take())) tokens.fail('only the syntax proto3 is read');
    tokens.expect(';');
  }

  #readMessage(scope: string, depth: number): void {
    const tokens = this.#tokens;
    if (depth > maxDepth) tokens.fail('messages are nested too deep');
    const name = join(scope, tokens.name());
    if (this.messages.has(name)) tokens.fail(`${name} is there twice`);
    const fields: ProtoField[] = [];
    this.messages.set(name, fields);
    tokens.expect('{');
    while (!tokens.takeIf('}')) {
      const word = tokens.peek();
      if (word === 'message' || word === 'enum' || word === 'oneof') {
        tokens.take();
        if (word === 'message') this.#readMessage(name, depth + 1);
        else if (word === 'enum') this.#readEnum(name);
        else this.#readOneof(fields);
      } else if (word === 'option' || word === 'reserved') tokens.skipStatement();
      else if (!tokens.takeIf(';')) this.#readField(fields, false);
    }
  }

  #readOneof(fields: ProtoField[]): void {
    const tokens = this.#tokens;
    tokens.name();
    tokens.expect('{');
    while (!tokens.takeIf('}')) {
      if (tokens.peek() === 'option') tokens.skipStatement();
      else this.#readField(fields, true);
    }
  }

  #readField(fields: ProtoField[], isOneof: boolean): void {
    const tokens = this.#tokens;
    if (['required', 'extensions', 'extend', 'group'].includes(tokens.peek()))
      tokens.fail(`"${tokens.peek()}" belongs to proto2`);
    const isRepeated = tokens.takeIf('repeated');
    const isOptional = !isRepeated && tokens.takeIf('optional');
    const map = tokens.peek() === 'map' ? this.#readMapTypes() : undefined;
    const type = map?.type ?? tokens.name();
    const name = tokens.name();
    tokens.expect('=');
    const number = tokens.number();
    if (number < 1 || number > maxFieldNumber) tokens.fail(`${number} is no number of a field`);
    if (fields.some((field) => field.name === name || field.number === number))
      tokens.fail(`the name or number of ${name} is there twice`);
    if (tokens.peek() === '[') while (tokens.peek() !== ';') tokens.take();
    tokens.expect(';');
    const hasPresence = isOptional || isOneof;
    fields.push({ name, number, type, isRepeated, hasPresence, ...(map && { keyType: map.keyType }) });
  }

  #readMapTypes(): { readonly keyType: string; readonly type: string } {
    const tokens = this.#tokens;
    tokens.take();
    tokens.expect('<');
    const keyType = tokens.name();
    tokens.expect(',');
    const type = tokens.name();
    tokens.expect('>');
    return { keyType, type };
  }

  #readEnum(scope: string): void {
    const tokens = this.#tokens;
    const values = new Map<string, number>();
    this.enums.set(join(scope, tokens.name()), values);
    tokens.expect('{');
    while (!tokens.takeIf('}')) {
      if (tokens.peek() === 'option' || tokens.peek() === 'reserved') {
        tokens.skipStatement();
        continue;
      }
      const name = tokens.name();
      tokens.expect('=');
      values.set(name, tokens.number());
      if (tokens.peek() === '[') while (tokens.peek() !== ';') tokens.take();
      tokens.expect(';');
    }
  }

  #readService(): void {
    const tokens = this.#tokens;
    const service = join(this.#package, tokens.name());
    tokens.expect('{');
    while (!tokens.takeIf('}')) {
      if (!tokens.takeIf('rpc')) {
        tokens.skipStatement();
        continue;
      }
      const name = tokens.name();
      const [input, streamsIn] = this.#readMessageName();
      tokens.expect('returns');
      const [output, streamsOut] = this.#readMessageName();
      if (tokens.peek() === '{') tokens.skipStatement();
      else tokens.expect(';');
      this.methods.set(`/${service}/${name}`, { input, output, streamsIn, streamsOut, scope: service });
    }
  }

  #readMessageName(): [string, boolean] {
    const tokens = this.#tokens;
    tokens.expect('(');
    const isStream = tokens.takeIf('stream');
    const name = tokens.name();
    tokens.expect(')');
    return [name, isStream];
  }
}

/** Reads a file of the syntax proto3. Throws `ProtoError` with the line. */
export const parseProtoFile = (source: string): ProtoFile => {
  const reader = new ProtoReader(source);
  reader.readFile();
  return reader;
};
