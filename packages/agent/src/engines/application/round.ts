import type { ApplicationPlay, PlayedParameter } from '@rushhour/protocol';
import type { Script, ScriptStep } from './script.ts';
import { type LocalName, type LocalValues, localNameOf, type UserIteration, type Values } from './values.ts';

/** One user's single replay of all sessions of an application. */
export class Round {
  readonly script: Script;
  readonly userIteration: UserIteration;
  /** Values known only to this side; fixed for the round once they have been sent. */
  readonly local: LocalValues;
  readonly #values: Values;
  readonly #known = new Map<number, Uint8Array>();
  readonly #rendered = new Map<string, Uint8Array>();
  readonly #seen = new Map<string, Uint8Array>();

  constructor(script: Script, values: Values, userIteration: UserIteration, local: LocalValues = {}) {
    this.script = script;
    this.#values = values;
    this.userIteration = userIteration;
    this.local = local;
  }

  /** A step as sent on the wire. Throws a RangeError when a value does not fit. */
  bytes(session: number, step: number): Uint8Array {
    const { template, bytes } = this.#step(session, step);
    if (template === undefined) return bytes;
    const key = `${session} ${step}`;
    const known = this.#rendered.get(key);
    if (known !== undefined) return known;
    const rendered = template.render(this.#valuesAt(session, step));
    this.#rendered.set(key, rendered);
    return rendered;
  }

  /** The step for sending: fixes the local values it contains. */
  bytesToSend(session: number, step: number): Uint8Array {
    for (const { parameter } of this.#step(session, step).uses) {
      if (localNameOf(this.#parameter(parameter)) !== undefined) this.#known.set(parameter, this.#valueOf(parameter));
    }
    return this.bytes(session, step);
  }

  /** The step with substitutes for values known only to the peer. */
  bytesWith(session: number, step: number, other: (name: LocalName) => Uint8Array) {
    const { template, bytes, uses } = this.#step(session, step);
    if (template === undefined) return bytes;
    const values = uses.map((use) => {
      const name = localNameOf(this.#parameter(use.parameter));
      return name === undefined || this.#known.has(use.parameter) ? this.#valueOf(use.parameter) : other(name);
    });
    return template.render(values);
  }

  /** Names of the values in a step that are known only to the peer. */
  unknownIn(session: number, step: number): LocalName[] {
    const { uses } = this.#step(session, step);
    return uses.flatMap(({ parameter }) => {
      const name = localNameOf(this.#parameter(parameter));
      return name === undefined || this.#known.has(parameter) ? [] : [name];
    });
  }

  /** Stores a value received from the peer. */
  learn(name: LocalName, value: string): void {
    this.script.play.parameters.forEach((parameter, number) => {
      if (localNameOf(parameter) !== name) return;
      this.#known.set(number, this.#values.bytesOf(parameter, this.userIteration, { ...this.local, [name]: value }));
    });
    this.#rendered.clear();
  }

  /** Keeps the received bytes of steps that values are extracted from. */
  recordReceived(session: number, step: number, arrived: Uint8Array): void {
    if (this.#step(session, step).isExtracted) this.#seen.set(`${session} ${step}`, Uint8Array.from(arrived));
  }

  #step(session: number, step: number): ScriptStep {
    const found = this.script.sessions[session]?.steps[step];
    if (found === undefined) throw new RangeError(`session ${session} has no step ${step}`);
    return found;
  }

  #parameter(number: number): PlayedParameter {
    return (this.script.play as ApplicationPlay).parameters[number] as PlayedParameter;
  }

  #valuesAt(session: number, step: number): Uint8Array[] {
    return this.#step(session, step).uses.map(({ parameter }) => this.#valueOf(parameter));
  }

  #valueOf(number: number): Uint8Array {
    const known = this.#known.get(number);
    if (known !== undefined) return known;
    const parameter = this.#parameter(number);
    const value =
      parameter.extract === undefined
        ? this.#values.bytesOf(parameter, this.userIteration, this.local)
        : this.#extract(parameter.extract);
    if (localNameOf(parameter) === undefined) this.#known.set(number, value);
    return value;
  }

  #extract(location: NonNullable<PlayedParameter['extract']>): Uint8Array {
    const session = this.script.positions.get(location.sessionIdx);
    if (session === undefined) throw new RangeError(`session ${location.sessionIdx} is not replayed`);
    const { template } = this.#step(session, location.stepIdx);
    const [from, to] = [location.offset, location.offset + location.length];
    const rendered = this.bytes(session, location.stepIdx);
    const seen = this.#seen.get(`${session} ${location.stepIdx}`);
    // When the length was changed in transit, the offset of the value is no longer valid.
    const bytes = seen?.length === rendered.length ? seen : rendered;
    const [start, end] = template?.locate(from, to, this.#valuesAt(session, location.stepIdx)) ?? [from, to];
    return bytes.slice(start, end);
  }
}
