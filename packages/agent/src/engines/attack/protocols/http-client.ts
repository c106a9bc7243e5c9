import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Attempt, HttpExchange } from '@rushhour/protocol';
import { Dialog } from '../dialog.ts';
import type { AttackRoute, ClientScene, ClientSight, ProofSight } from '../driver.ts';
import { joinedHash, proofOf, tokenOf } from '../proof.ts';
import { type Asked, answerParts } from './http-answer.ts';
import { answerHash, markerHeader, pairsOf, requestHash, statusIn, writeMessage } from './http-form.ts';
import { type HttpMessage, HttpReader, headerIn } from './http-reader.ts';
import { askHttp2 } from './http2-client.ts';
import { plainHeaders } from './http2-form.ts';

type Step = HttpExchange['steps'][number];

const excerptBytes = 2048;
const agentName = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Safari/537.36';

const hostOf = ({ host, port, isTls }: AttackRoute): string => {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === (isTls ? 443 : 80) ? name : `${name}:${port}`;
};

/** Whose name the handshake of TLS shows: that of the host that is asked. */
const namedIn = ({ request: { headers } }: Step): Pick<AttackRoute, 'serverName'> => {
  const host = headers.find(({ name }) => name.trim().toLowerCase() === 'host')?.value.trim() ?? '';
  const name = host.replace(/:\d+$/, '');
  return /^(?=.{1,253}$)[a-z0-9_-]+(\.[a-z0-9_-]+)*$/i.test(name) && isIP(name) === 0 ? { serverName: name } : {};
};

const framing = /^(connection|content-length|transfer-encoding|upgrade|expect)$/i;

/** Requests that say themselves where they end, or that go on otherwise, may leave the two ends at odds. */
const isPlain = ({ request: { version, headers } }: Step): boolean =>
  version === '1.1' && !headers.some(({ name }) => framing.test(name.trim()));

const requestOf = (step: Step, body: Buffer, token: string, route: AttackRoute, scene: ClientScene): Buffer => {
  const { method, path, version, headers, chunked = false } = step.request;
  const cookies = scene.cookies?.headerFor(hostOf(route));
  const connection = scene.keepAlive && isPlain(step) ? 'keep-alive' : 'close';
  const hasLength = body.length > 0 || chunked || /^(POST|PUT|PATCH)$/i.test(method);
  const added = [
    { name: 'Host', value: hostOf(route) },
    ...(scene.marker ? [{ name: 'X-Traffic-Test', value: token }] : []),
    ...(cookies === undefined ? [] : [{ name: 'Cookie', value: cookies }]),
    ...(version === '1.1' ? [{ name: 'Connection', value: connection }] : []),
  ];
  const written = { startLine: `${method} ${path} HTTP/${version}`, headers, body, isChunked: chunked, added };
  const bytes = writeMessage(written);
  return hasLength ? bytes : Buffer.from(bytes.toString('latin1').replace('Content-Length: 0\r\n', ''), 'latin1');
};

interface Answer extends HttpMessage {
  /** Nothing came behind it, and the other side means to hear more. */
  readonly isKept: boolean;
}

const answerOf = (message: HttpMessage, reader: HttpReader): Answer => {
  const isKept = message.startLine.startsWith('HTTP/1.1') && !/\bclose\b/i.test(headerIn(message, 'connection') ?? '');
  return { ...message, isKept: isKept && reader.begun === undefined };
};

/** Reads one answer; undefined when none came to its end. */
const readAnswer = async (dialog: Dialog, method: string): Promise<Answer | undefined> => {
  const reader = new HttpReader('answer', (startLine) => method !== 'HEAD' && !/^HTTP\/\S+ (204|304)/.test(startLine));
  try {
    for (;;) {
      const isMore = await dialog.more();
      const [message] = reader.feed(dialog.take());
      if (message !== undefined) return answerOf(message, reader);
      const last = !isMore && dialog.end === 'fin' ? reader.finish() : undefined;
      if (last !== undefined) return { ...last, isKept: false };
      if (!isMore) return undefined;
    }
  } catch {
    return undefined;
  }
};

interface Told {
  sent: string[];
  received: string[];
  status: number;
  isComplete: boolean;
  isOurs: boolean;
  isAnswered: boolean;
  isKept: boolean;
  excerpt: Buffer | undefined;
}

const isOurAnswer = (answer: Pick<HttpMessage, 'headers'>, token: string, scene: ClientScene): boolean =>
  headerIn(answer, markerHeader) === `${token};${proofOf(scene.proofKey, token)}`;

interface Came extends Pick<HttpMessage, 'startLine' | 'headers' | 'body'> {
  readonly status: number;
}

/** Whether an answer is the one that our server gives. */
const judgeAnswer = (told: Told, { answer: expected }: Step, came: Came, asked: Asked): void => {
  const hash = answerHash(expected, came);
  const { hash: wanted } = answerParts(expected, asked);
  told.received.push(hash);
  told.status = came.status;
  told.isOurs = isOurAnswer(came, asked.token, asked.scene as ClientScene) || hash === wanted;
  if (told.isOurs && hash === wanted) return;
  told.excerpt = Buffer.from(`${came.startLine}\n${came.body.toString('latin1', 0, excerptBytes)}`, 'latin1');
};

/** A step by HTTP/2, on a connection of its own. */
const takeHttp2Step = async ({ attempt, route, scene, told }: Omit<Work, 'dialog'>, step: Step, index: number) => {
  const token = tokenOf(scene.runToken, attempt.id, index);
  const { method, path, headers } = step.request;
  const body = step.request.body === undefined ? Buffer.alloc(0) : scene.bytesOf(step.request.body);
  const line = `${method} ${path}`;
  const host = headers.find(({ name }) => name.trim().toLowerCase() === 'host')?.value.trim();
  const cookies = scene.cookies?.headerFor(hostOf(route));
  told.sent.push(requestHash(step.request, { line, headers: pairsOf(headers), body }));
  const sight = await askHttp2(
    {
      headers: {
        ...{ ':method': method, ':path': path, ':scheme': route.isTls ? 'https' : 'http' },
        ':authority': host ?? hostOf(route),
        ...(scene.marker && { [markerHeader]: token }),
        ...(cookies !== undefined && { cookie: cookies }),
        ...plainHeaders(headers),
      },
      body,
    },
    route,
    scene,
  );
  const { answer } = sight;
  told.isComplete = sight.isComplete;
  told.isAnswered = answer !== undefined;
  if (answer !== undefined) {
    scene.cookies?.put(hostOf(route), answer.headers);
    const came = { ...answer, startLine: `HTTP/2 ${answer.status}` };
    judgeAnswer(told, step, came, { token, request: { body, line }, scene });
  }
  return { dialog: { ...sight, sentBytes: sight.isComplete ? body.length + line.length : 0 }, goesOn: told.isOurs };
};

/** One step; false when there is no going on. */
const takeStep = async ({ dialog, attempt, route, scene, told }: Work, step: Step, index: number): Promise<boolean> => {
  const token = tokenOf(scene.runToken, attempt.id, index);
  const body = step.request.body === undefined ? Buffer.alloc(0) : scene.bytesOf(step.request.body);
  const { segmentBytes, gapMs } = attempt.exchange as HttpExchange;
  const bytes = requestOf(step, body, token, route, scene);
  const line = `${step.request.method} ${step.request.path}`;
  told.sent.push(requestHash(step.request, { line, headers: pairsOf(step.request.headers), body }));
  const cut = { ...(segmentBytes !== undefined && { segmentBytes }), ...(gapMs !== undefined && { gapMs }) };
  told.isComplete = await dialog.write(bytes, cut);
  const answer = await readAnswer(dialog, step.request.method);
  told.isAnswered = answer !== undefined;
  told.isOurs = false;
  told.isKept = false;
  if (answer === undefined) return false;
  scene.cookies?.put(hostOf(route), answer.headers);
  judgeAnswer(told, step, { ...answer, status: statusIn(answer) }, { token, request: { body, line }, scene });
  told.isKept = scene.keepAlive && told.isOurs && answer.isKept && isPlain(step);
  return told.isOurs;
};

interface Work {
  readonly attempt: Attempt;
  readonly route: AttackRoute;
  readonly scene: ClientScene;
  readonly told: Told;
  readonly dialog: Dialog;
}

/** A step on a connection that was kept, or on a new one where there is none or the other side had closed it. */
const carryStep = async (work: Omit<Work, 'dialog'>, step: Step, index: number) => {
  const { scene, told } = work;
  const route = { ...work.route, ...namedIn(step) };
  if (step.request.version === '2') return takeHttp2Step({ ...work, route }, step, index);
  const kept = scene.keepAlive && isPlain(step) ? scene.kept.take(route) : undefined;
  const on = async (dialog: Dialog) => {
    dialog.begin();
    told.isComplete = false;
    told.isAnswered = false;
    told.isOurs = false;
    const goesOn = dialog.isOpen && (await takeStep({ ...work, route, dialog }, step, index));
    if (told.isKept && goesOn) scene.kept.give(route, dialog);
    else dialog.close();
    return { dialog, goesOn };
  };
  if (kept === undefined) return on(await Dialog.open(route, scene));
  const first = await on(kept);
  if (told.isAnswered || kept.end === 'timeout' || kept.rxBytes > 0) return first;
  told.sent.pop();
  return on(await Dialog.open(route, scene));
};

/** What a device did to one step must not colour the next: only connections on which all went well are used again. */
export const attemptHttp = async (attempt: Attempt, route: AttackRoute, scene: ClientScene): Promise<ClientSight> => {
  const { steps } = attempt.exchange as HttpExchange;
  const told: Told = {
    ...{ sent: [], received: [], status: 0, excerpt: undefined },
    ...{ isComplete: false, isOurs: false, isAnswered: false, isKept: false },
  };
  let sentBytes = 0;
  let rxBytes = 0;
  let last: Sides | undefined;
  for (const [index, step] of steps.entries()) {
    if (step.delayMs !== undefined) await sleep(step.delayMs, undefined, { signal: scene.signal }).catch(() => {});
    const { dialog, goesOn } = await carryStep({ attempt, route, scene, told }, step, index);
    last = dialog;
    sentBytes += dialog.sentBytes;
    rxBytes += dialog.rxBytes;
    if (!goesOn) break;
  }
  return { ...sightOf(last as Sides, told), sentBytes, rxBytes };
};

/** What a connection saw, whatever it spoke. */
type Sides = Pick<Dialog, 'ip' | 'port' | 'connect' | 'end' | 'ttfbMs' | 'ownError' | 'sentBytes' | 'rxBytes'>;

const sightOf = ({ ip, port, connect, end, ttfbMs, ownError }: Sides, told: Told) => ({
  ...{ ip, port, connect, ttfbMs },
  isComplete: told.isComplete,
  sentSha256: joinedHash(told.sent),
  end: told.isAnswered ? ('response' as const) : end,
  status: told.status,
  rxSha256: joinedHash(told.received),
  responseIsOurs: told.isOurs,
  ...(ownError !== undefined && { error: ownError }),
  ...(told.excerpt !== undefined && { excerpt: told.excerpt.toString('base64') }),
});

/** A request that nobody minds, with a nonce that only our own server can answer. */
export const proveHttp = async (nonce: string, route: AttackRoute, scene: ClientScene): Promise<ProofSight> => {
  const dialog = await Dialog.open(route, scene);
  const bytes = writeMessage({
    startLine: `GET /status?proof=${nonce} HTTP/1.1`,
    headers: [],
    body: Buffer.alloc(0),
    isChunked: false,
    added: [
      { name: 'Host', value: hostOf(route) },
      { name: 'User-Agent', value: agentName },
      { name: 'Accept', value: '*/*' },
      { name: 'Connection', value: 'close' },
    ],
  });
  const plain = Buffer.from(bytes.toString('latin1').replace('Content-Length: 0\r\n', ''), 'latin1');
  const answer = dialog.isOpen && (await dialog.write(plain)) ? await readAnswer(dialog, 'GET') : undefined;
  const { ip, connect, end } = dialog;
  dialog.close();
  if (answer === undefined) return { ip, isGood: false, detail: `no answer: connect ${connect}, end ${end}` };
  const isGood = answer.body.toString('latin1') === proofOf(scene.proofKey, nonce);
  return { ip, isGood, detail: isGood ? '' : `an answer with status ${statusIn(answer)} that is not ours` };
};
