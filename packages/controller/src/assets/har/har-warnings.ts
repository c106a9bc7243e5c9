/** An irregularity in a recording and how it was handled. */
export interface HarWarning {
  readonly code: string;
  readonly message: string;
}

/** Messages by code; `N` is the number of affected entries. */
const messages = {
  HAR_WEBSOCKET: 'N entries are WebSockets, which are not played',
  HAR_SCHEME: 'N entries went to no server (data, blob or an extension) and are left out',
  HAR_UNANSWERED: 'N entries had no answer when they were recorded and are left out',
  HAR_FROM_CACHE: 'N entries came from the cache of the browser and are left out',
  HAR_BROKEN_ENTRY: 'N entries have no valid address or method and are left out',
  HAR_TIME_UNSOUND: 'N entries have no valid time: they follow the entry before without a pause',
  HAR_MIME_MISSING: 'N answers have no type: it is inferred from their headers or address',
  HAR_HEADER_UNSOUND:
    'N entries have headers without a name or with characters that no header may have: they are left out',
  HAR_BODY_ON_GET: 'N GET or HEAD requests have a body, which is sent',
  HAR_BODY_UNSOUND: 'N bodies are marked as base64 and are none: they are taken as text',
  HAR_BODY_MISSING: 'N answers were recorded without their body',
  HAR_UPLOAD_MISSING: 'N requests carried files whose content was not recorded: they are sent empty',
} as const;

export type HarOddity = keyof typeof messages;

/** Collects irregularities; each entry counts once per code. */
export class HarWarnings {
  readonly #entries = new Map<HarOddity, Set<number>>();

  add(code: HarOddity, index: number): void {
    this.#entries.set(code, (this.#entries.get(code) ?? new Set()).add(index));
  }

  get all(): HarWarning[] {
    return [...this.#entries].map(([code, entries]) => {
      const [first] = entries;
      return { code, message: `${messages[code].replace('N', String(entries.size))}; the first is entry ${first}` };
    });
  }
}

/** A recording that cannot be played at all. */
export class HarError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
