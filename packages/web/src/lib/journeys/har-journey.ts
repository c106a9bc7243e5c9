import { createNames, type JourneyDraft, requestStep, type StepDraft } from './journey-draft.ts';

interface HarEntry {
  readonly startedDateTime: string;
  readonly time: number;
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers?: readonly { name: string; value: string }[];
    readonly postData?: { readonly text?: string };
  };
}

export interface Har {
  readonly log: { readonly entries: readonly HarEntry[]; readonly pages?: readonly { readonly title?: string }[] };
}

/** Shorter pauses are the browser's own. */
const minThinkMs = 500;

interface Timed {
  readonly entry: HarEntry;
  readonly url: URL;
  readonly from: number;
  readonly to: number;
}

const timedOf = (entry: HarEntry): Timed[] => {
  if (!URL.canParse(entry.request.url)) return [];
  const from = Date.parse(entry.startedDateTime);
  return [{ entry, url: new URL(entry.request.url), from, to: from + Math.max(0, entry.time) }];
};

/** Requests that overlap in time, as one batch. */
const batchesOf = (entries: readonly Timed[]): Timed[][] => {
  const batches: Timed[][] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const one of entries) {
    const batch = batches.at(-1);
    if (batch !== undefined && one.from < end) batch.push(one);
    else batches.push([one]);
    end = Math.max(end, one.to);
  }
  return batches;
};

/** A journey of the requests to the host of the first one, in the order and with the pauses of the recording. */
export const journeyFromHar = ({ log }: Har): JourneyDraft => {
  const timed = log.entries.flatMap(timedOf).toSorted((a, b) => a.from - b.from);
  const [first] = timed;
  const nameOf = createNames();
  const stepOf = ({ entry: { request }, url }: Timed, inside?: string): StepDraft =>
    requestStep({
      name: nameOf(`${request.method} ${url.pathname}`),
      ...(inside !== undefined && { inside }),
      method: request.method.toUpperCase(),
      path: `${url.pathname}${url.search}`,
      headers: [...(request.headers ?? [])].filter(({ name }) => !name.startsWith(':')),
      body: request.postData?.text ?? '',
    });
  const steps: StepDraft[] = [];
  let end = first?.from ?? 0;
  for (const batch of batchesOf(timed.filter(({ url }) => url.origin === first?.url.origin))) {
    const thinkMs = Math.round((batch[0]?.from ?? end) - end);
    if (thinkMs >= minThinkMs) steps.push({ kind: 'think', thinkMs });
    if (batch.length > 1) {
      const name = nameOf('at the same time');
      steps.push({ kind: 'parallel', name }, ...batch.map((one) => stepOf(one, name)));
    } else steps.push(...batch.map((one) => stepOf(one)));
    end = Math.max(...batch.map(({ to }) => to));
  }
  return { name: log.pages?.[0]?.title?.slice(0, 64) ?? first?.url.host ?? 'recording', steps };
};
