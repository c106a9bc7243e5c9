import { fitValue } from './fit-value.ts';
import { type FormatOptions, formatOf, type LengthRule, type StepFormat } from './length-rule.ts';

/** A byte range of the step and the type of its values. */
export interface TemplateRegion {
  readonly offset: number;
  readonly length: number;
  readonly type: string;
}

interface Slot {
  readonly offset: number;
  readonly end: number;
  /** Which value goes here; -1 is the Content-Length. */
  readonly index: number;
}

/**
 * A recorded step with places to fill, prepared once and rendered many times. The result is that of replacing the
 * places from the highest offset down; a Content-Length that counts a changed body is rewritten with it.
 */
export class StepTemplate {
  readonly rules: readonly LengthRule[];
  readonly #recorded: Uint8Array;
  readonly #regions: readonly TemplateRegion[];
  readonly #format: StepFormat;
  readonly #slots: readonly Slot[];

  constructor(recorded: Uint8Array, regions: readonly TemplateRegion[], options: FormatOptions) {
    this.#recorded = recorded;
    this.#regions = regions;
    this.#format = formatOf(recorded, options);
    this.rules = regions.map((region) => this.#format.ruleAt(region));
    const slots = regions.map(({ offset, length }, index) => ({ offset, end: offset + length, index }));
    const counted = this.#countedLength();
    if (counted !== undefined) slots.push({ offset: counted.offset, end: counted.offset + counted.length, index: -1 });
    // At one offset an insertion precedes the mapping that begins there.
    this.#slots = slots.sort((left, right) => left.offset - right.offset || left.end - right.end);
  }

  /** `values` in the order of the regions. Throws a RangeError for a value that does not fit a fixed length. */
  render(values: readonly Uint8Array[]): Uint8Array {
    const filled = this.#fill(values);
    const length =
      this.#recorded.length + filled.reduce((sum, { bytes, slot }) => sum + bytes.length - sizeOf(slot), 0);
    const result = new Uint8Array(length);
    let [from, to] = [0, 0];
    for (const { bytes, slot } of filled) {
      result.set(this.#recorded.subarray(from, slot.offset), to);
      to += slot.offset - from;
      result.set(bytes, to);
      to += bytes.length;
      from = slot.end;
    }
    result.set(this.#recorded.subarray(from), to);
    return result;
  }

  /** Where the recorded bytes [start, end) lie once the step is rendered with `values`. */
  locate(start: number, end: number, values: readonly Uint8Array[]): [number, number] {
    const range: [number, number] = [start, end];
    for (const { bytes, slot } of this.#fill(values)) {
      const growth = bytes.length - sizeOf(slot);
      if (slot.end <= start) range[0] += growth;
      if (slot.end <= start || slot.offset < end) range[1] += growth;
    }
    return range;
  }

  #fill(values: readonly Uint8Array[]): { bytes: Uint8Array; slot: Slot }[] {
    const fitted = this.#regions.map((region, index) => {
      const value = values[index];
      if (value === undefined) return this.#recorded.subarray(region.offset, region.offset + region.length);
      return this.rules[index] === 'fixed' ? fitValue(value, region.length, region.type) : value;
    });
    return this.#slots.map((slot) => ({ slot, bytes: fitted[slot.index] ?? this.#lengthDigits(fitted) }));
  }

  #lengthDigits(fitted: readonly Uint8Array[]): Uint8Array {
    const growth = fitted.reduce((sum, bytes, index) => {
      const region = this.#regions[index] as TemplateRegion;
      return this.rules[index] === 'content-length' ? sum + bytes.length - region.length : sum;
    }, 0);
    const value = (this.#format.http?.contentLength?.value ?? 0) + growth;
    return new Uint8Array(Buffer.from(String(value), 'latin1'));
  }

  #countedLength(): { offset: number; length: number } | undefined {
    const counted = this.#format.http?.contentLength;
    if (counted === undefined || !this.rules.includes('content-length')) return undefined;
    // A parameter that sits on the digits has taken charge of them.
    const isMapped = this.#regions.some(
      ({ offset, length }) => offset <= counted.offset + counted.length && offset + length >= counted.offset,
    );
    return isMapped ? undefined : counted;
  }
}

function sizeOf(slot: Slot): number {
  return slot.end - slot.offset;
}
