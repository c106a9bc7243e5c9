import { type IssueList, pointerOf } from '../values/issue.ts';

/**
 * One object of a dictionary's `config`, read member by member; members that are never read are reported as unknown.
 */
export class Section {
  readonly path: string;
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #issues: IssueList;
  readonly #known = new Set<string>();

  constructor(values: unknown, path: string, issues: IssueList) {
    const isObject = typeof values === 'object' && values !== null && !Array.isArray(values);
    if (values !== undefined && !isObject)
      issues.error(path, 'CONFIG_NOT_OBJECT', 'every value of config is an object');
    this.path = path;
    this.#values = isObject ? (values as Record<string, unknown>) : {};
    this.#issues = issues;
  }

  pathOf(name: string): string {
    return this.path + pointerOf(name);
  }

  error(name: string, code: string, message: string): undefined {
    return this.#issues.error(this.pathOf(name), code, message);
  }

  raw(name: string): unknown {
    this.#known.add(name);
    return this.#values[name] ?? undefined;
  }

  /** Numbers are taken as their text: the document writes them as strings. */
  text(name: string): string | undefined {
    const value = this.raw(name);
    if (value === undefined || typeof value === 'string') return value;
    if (typeof value === 'number') return String(value);
    return this.error(name, 'CONFIG_INVALID', `${name} must be a string`);
  }

  integer(name: string, min: number, max: number = Number.MAX_SAFE_INTEGER): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = /^-?\d+$/.test(text.trim()) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    const bounds = max === Number.MAX_SAFE_INTEGER ? `at least ${min}` : `${min} to ${max}`;
    return this.error(name, 'CONFIG_INVALID', `${name} must be a whole number, ${bounds}`);
  }

  flag(name: string): boolean {
    const value = this.raw(name) ?? false;
    if (typeof value !== 'boolean') this.error(name, 'CONFIG_INVALID', `${name} must be true or false`);
    return value === true;
  }

  choice<T extends string>(name: string, choices: readonly T[]): T | undefined {
    const text = this.text(name);
    const found = choices.find((choice) => choice === text);
    if (text !== undefined && found === undefined) {
      this.error(name, 'CONFIG_INVALID', `"${text}" is none of ${choices.join(', ')}`);
    }
    return found;
  }

  reportUnknown(): void {
    for (const name of Object.keys(this.#values)) {
      if (!this.#known.has(name)) this.error(name, 'CONFIG_UNKNOWN_MEMBER', `"${name}" is not a known member`);
    }
  }
}
