import { createHash } from 'node:crypto';
import {
  type HarEntry,
  type HarHeader,
  type HarOrigin,
  type HarReplayClientConfig,
  type HarScript,
  harEntryHeader,
} from '@rushhour/protocol';
import { CookieJar } from '../../../net/cookie-jar.ts';
import type { HostMeters, ReplayMeters } from '../meters.ts';
import { type Answer, BrowserCache, contentOf, type Request, takenOf } from '../server/answer.ts';
import { headerText, render } from '../server/template.ts';
import { Connections, type ConnectionsOptions } from './connections.ts';
import { ConnectionError } from './http-connection.ts';

export interface UserDeps {
  readonly config: HarReplayClientConfig;
  readonly script: HarScript;
  readonly meters: ReplayMeters;
  readonly metersOf: (origin: number) => HostMeters;
  readonly open: ConnectionsOptions['open'];
  /** The run is ending: nothing new is started. */
  readonly isEnding: () => boolean;
  /** Resolves after `ms`, or immediately when the run ends. */
  readonly pause: (ms: number) => Promise<void>;
}

/** State of one visit. */
interface Visit {
  readonly slots: (string | undefined)[];
  readonly jar: CookieJar;
  hasFailed: boolean;
}

const keepsBody = ({ expect, takes }: HarEntry): boolean =>
  expect.bodySize !== undefined || expect.bodySha256 !== undefined || takes.some(({ part }) => part === 'body');

const isAsRecorded = ({ expect }: HarEntry, answer: Answer): boolean => {
  const { status, bodySize, bodySha256 } = expect;
  if (status !== undefined && answer.status !== status) return false;
  if (bodySize === undefined && bodySha256 === undefined) return true;
  const content = contentOf(answer);
  if (content === undefined || (bodySize !== undefined && content.length !== bodySize)) return false;
  return bodySha256 === undefined || createHash('sha256').update(content).digest('hex') === bodySha256;
};

/** One user of the recorded site. */
export class User {
  readonly #deps: UserDeps;
  readonly #connections: Connections;
  readonly #cache = new BrowserCache();

  constructor(deps: UserDeps) {
    this.#deps = deps;
    this.#connections = new Connections({ ...deps.config, open: deps.open });
  }

  /** Replays the recording once; `visitIndex` selects the values of variables. True when every request was answered. */
  async visit(visitIndex: number): Promise<boolean> {
    const { script, config, meters, isEnding } = this.#deps;
    const taken = Array.from({ length: script.takenSlots }, () => undefined);
    const variables = config.variables.map((values) => values[visitIndex % values.length]);
    const visit: Visit = { slots: [...taken, ...variables], jar: new CookieJar(), hasFailed: false };
    for (const page of script.pages) {
      const tookMs = await this.#playPage(page, visit);
      if (isEnding()) return !visit.hasFailed;
      meters.pages.add(1);
      meters.page.record(tookMs * 1000);
    }
    meters.iterations.add(1);
    this.#connections.endVisit();
    return !visit.hasFailed;
  }

  leave(): void {
    this.#connections.close();
  }

  /** Returns the duration without pauses. */
  async #playPage({ steps }: HarScript['pages'][number], visit: Visit): Promise<number> {
    const { pause, isEnding } = this.#deps;
    let tookMs = 0;
    for (const { pauseMs, entries } of steps) {
      if (pauseMs > 0) await pause(pauseMs);
      if (isEnding()) break;
      const beganAt = performance.now();
      await this.#playStep(entries, visit);
      tookMs += performance.now() - beganAt;
    }
    return tookMs;
  }

  async #playStep(positions: readonly number[], visit: Visit): Promise<void> {
    const { entries } = this.#deps.script;
    const done = new Map<number, Promise<void>>();
    for (const position of positions) {
      const entry = entries[position] as HarEntry;
      const before = entry.after.map((earlier) => done.get(earlier));
      const mine = before.length === 0 ? this.#play(entry, visit) : this.#playAfter(before, entry, visit);
      done.set(position, mine);
    }
    await Promise.all(done.values());
  }

  async #playAfter(before: readonly (Promise<void> | undefined)[], entry: HarEntry, visit: Visit): Promise<void> {
    await Promise.all(before);
    await this.#play(entry, visit);
  }

  async #play(entry: HarEntry, visit: Visit): Promise<void> {
    const { script, config, meters, metersOf, isEnding } = this.#deps;
    if (isEnding()) return;
    const origin = script.origins[entry.origin] as HarOrigin;
    const request = this.#requestOf(entry, origin, visit);
    const address = `${request.scheme}://${request.authority}${request.path}`;
    if (config.cache && this.#cache.holds(address, entry.method)) {
      meters.cached.add(1);
      return;
    }
    const host = metersOf(entry.origin);
    host.requests.add(1);
    const sentAt = performance.now();
    const connectionOptions = {
      origin: entry.origin,
      isShared: origin.version !== '1.1',
      connection: entry.connection,
    };
    try {
      const answer = await this.#connections.exchange(connectionOptions, request, config.timeoutMs + entry.recordedMs);
      host.took(performance.now() - sentAt, entry.recordedMs);
      host.answered(answer.status, isAsRecorded(entry, answer));
      this.#learn(entry, answer, { origin, request, visit });
      if (config.cache) this.#cache.keep(address, entry.method, answer);
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      visit.hasFailed = true;
      // Requests cut off by the end of the run are not server failures.
      if (!isEnding()) host.error(error.code);
      // A request that times out counts with the time it waited.
      if (error.code === 'timeout') host.took(performance.now() - sentAt, entry.recordedMs);
    }
  }

  #requestOf(entry: HarEntry, origin: HarOrigin, { slots, jar }: Visit): Request {
    const { config } = this.#deps;
    const path = render(entry.path, slots);
    const headers: HarHeader[] = entry.headers.map(({ name, value }) => ({
      name,
      value: headerText(render(value, slots)),
    }));
    const cookie = config.cookies === 'jar' ? jar.headerFor(cookieScopeOf(origin, path)) : undefined;
    if (cookie !== undefined) headers.push({ name: 'Cookie', value: headerText(cookie) });
    if (config.marks && entry.isAmbiguous) headers.push({ name: harEntryHeader, value: String(entry.index) });
    return {
      method: entry.method,
      path,
      authority: origin.authority,
      scheme: origin.isTls ? 'https' : 'http',
      headers,
      body: bodyOf(entry, slots),
      keepsBody: keepsBody(entry),
    };
  }

  #learn(
    entry: HarEntry,
    answer: Answer,
    { origin, request, visit }: { origin: HarOrigin; request: Request; visit: Visit },
  ): void {
    const { config, meters } = this.#deps;
    if (config.cookies === 'jar') visit.jar.keep(answer.headers, cookieScopeOf(origin, request.path));
    for (const take of entry.takes) {
      visit.slots[take.slot] = takenOf(take, answer);
      if (visit.slots[take.slot] === undefined) meters.notFound.add(1);
    }
  }
}

const decoded = new WeakMap<object, Buffer>();

const bodyOf = ({ body }: HarEntry, slots: Visit['slots']): Buffer | undefined => {
  if (body === undefined) return undefined;
  if (!('base64' in body)) return Buffer.from(render(body, slots), 'utf8');
  const bytes = decoded.get(body) ?? Buffer.from(body.base64, 'base64');
  decoded.set(body, bytes);
  return bytes;
};

// Secure cookies recorded over TLS are also sent when TLS is disabled.
const cookieScopeOf = ({ host, port, isTls }: HarOrigin, path: string) => ({
  host,
  path,
  isTls: isTls || port === 443,
});
