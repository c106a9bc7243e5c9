import type { HarAnswer } from '@rushhour/protocol';

/** The parts of a request that select its answer. */
export interface RequestKey {
  readonly method: string;
  /** Without port. */
  readonly host: string;
  readonly path: string;
  readonly query: string;
  /** Empty without a body. */
  readonly bodySha256: string;
  /** Entry index sent by the client. */
  readonly mark: number | undefined;
}

export interface Found {
  readonly answer: HarAnswer;
  /** Whether it was recorded for an identical request. */
  readonly isExact: boolean;
}

const keyOf = (method: string, host: string, path: string): string => `${method} ${host.toLowerCase()} ${path}`;

/** Similarity of two queries: an equal pair scores 2, an equal name 1. */
const similarity = (one: string, other: string): number => {
  const pairs = new Set(other.split('&'));
  const names = new Set([...pairs].map((pair) => pair.split('=', 1)[0]));
  return one
    .split('&')
    .reduce((sum, pair) => sum + (pairs.has(pair) ? 2 : names.has(pair.split('=', 1)[0]) ? 1 : 0), 0);
};

const best = (candidates: readonly HarAnswer[], query: string): HarAnswer => {
  const scores = candidates.map((candidate) => similarity(query, candidate.query));
  return candidates[scores.indexOf(Math.max(...scores))] as HarAnswer;
};

/** Finds the recorded answer of a request, or the most similar one. */
export class AnswerIndex {
  readonly #answers = new Map<string, HarAnswer[]>();
  /** By method and path only, for requests with an unknown host. */
  readonly #anywhere = new Map<string, HarAnswer[]>();
  /** Identical requests get their recorded answers in rotation. */
  readonly #nextIndexes = new Map<HarAnswer, number>();

  constructor(answers: readonly HarAnswer[]) {
    const add = (map: Map<string, HarAnswer[]>, key: string, answer: HarAnswer) => {
      const list = map.get(key) ?? [];
      map.set(key, list);
      list.push(answer);
    };
    for (const answer of answers) {
      add(this.#answers, keyOf(answer.method, answer.host, answer.path), answer);
      add(this.#anywhere, keyOf(answer.method, '*', answer.path), answer);
    }
  }

  find(asked: RequestKey): Found | undefined {
    const { method, host, path, query, bodySha256, mark } = asked;
    const own = this.#answers.get(keyOf(method, host, path));
    const candidates = own ?? this.#anywhere.get(keyOf(method, '*', path));
    if (candidates === undefined) {
      return method === 'HEAD' ? this.#asSimilar(this.find({ ...asked, method: 'GET' })) : undefined;
    }
    const marked = mark === undefined ? undefined : candidates.find(({ index }) => index === mark);
    if (marked !== undefined) return { answer: marked, isExact: own !== undefined };
    const same = candidates.filter((candidate) => candidate.query === query);
    const equal = same.filter((candidate) => candidate.bodySha256 === bodySha256);
    if (equal.length > 0) return { answer: this.#nextOf(equal), isExact: own !== undefined };
    if (same.length > 0) return { answer: this.#nextOf(same), isExact: false };
    return { answer: best(candidates, query), isExact: false };
  }

  #asSimilar(found: Found | undefined): Found | undefined {
    return found && { ...found, isExact: false };
  }

  #nextOf(equal: readonly HarAnswer[]): HarAnswer {
    const first = equal[0] as HarAnswer;
    const visitIndex = this.#nextIndexes.get(first) ?? 0;
    this.#nextIndexes.set(first, visitIndex + 1);
    return equal[visitIndex % equal.length] as HarAnswer;
  }
}
