import { setTimeout as sleep } from 'node:timers/promises';
import type { Attempt, HttpExchange } from '@rushhour/protocol';
import { Dialog } from '../dialog.ts';
import type { AttackRoute, ClientScene, ClientSight, ProofSight } from '../driver.ts';
import { joinedHash, proofOf, tokenOf } from '../proof.ts';
import { answerBytes } from './http-answer.ts';
import { answerHash, markerHeader, pairsOf, requestHash, statusIn, writeMessage } from './http-form.ts';
import { type HttpMessage, HttpReader, headerIn } from './http-reader.ts';

type Step = HttpExchange['steps'][number];

const excerptBytes = 2048;
const agentName = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Safari/537.36';

const hostOf = ({ host, port, isTls }: AttackRoute): string => {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === (isTls ? 443 : 80) ? name : `${name}:${port}`;
};

const requestOf = (step: Step, body: Buffer, token: string, route: AttackRoute, scene: ClientScene): Buffer => {
  const { method, path, version, headers, chunked = false } = step.request;
  const hasLength = body.length > 0 || chunked || /^(POST|PUT|PATCH)$/i.test(method);
  const added = [
    { name: 'Host', value: hostOf(route) },
    ...(scene.marker ? [{ name: 'X-Traffic-Test', value: token }] : []),
    ...(version === '1.1' ? [{ name: 'Connection', value: 'close' }] : []),
  ];
  const written = { startLine: `${method} ${path} HTTP/${version}`, headers, body, isChunked: chunked, added };
  const bytes = writeMessage(written);
  return hasLength ? bytes : Buffer.from(bytes.toString('latin1').replace('Content-Length: 0\r\n', ''), 'latin1');
};

/** Reads one answer; undefined when none came to its end. */
const readAnswer = async (dialog: Dialog, method: string): Promise<HttpMessage | undefined> => {
  const reader = new HttpReader('answer', (startLine) => method !== 'HEAD' && !/^HTTP\/\S+ (204|304)/.test(startLine));
  try {
    for (;;) {
      const isMore = await dialog.more();
      const [message] = reader.feed(dialog.take());
      if (message !== undefined) return message;
      if (!isMore) return dialog.end === 'fin' ? reader.finish() : undefined;
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
  excerpt: Buffer | undefined;
}

const isOurAnswer = (answer: HttpMessage, token: string, scene: ClientScene): boolean =>
  headerIn(answer, markerHeader) === `${token};${proofOf(scene.proofKey, token)}`;

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
  if (answer === undefined) return false;
  const hash = answerHash(step.answer, { status: statusIn(answer), headers: answer.headers, body: answer.body });
  const wanted = answerBytes(step.answer, { token, request: { body, line }, scene });
  told.received.push(hash);
  told.status = statusIn(answer);
  told.isOurs = isOurAnswer(answer, token, scene) || hash === wanted.hash;
  if (!told.isOurs || hash !== wanted.hash) {
    told.excerpt = Buffer.from(`${answer.startLine}\n${answer.body.toString('latin1', 0, excerptBytes)}`, 'latin1');
  }
  return told.isOurs;
};

interface Work {
  readonly attempt: Attempt;
  readonly route: AttackRoute;
  readonly scene: ClientScene;
  readonly told: Told;
  readonly dialog: Dialog;
}

/** Every step has a connection of its own: what a device did to one must not colour the next. */
export const attemptHttp = async (attempt: Attempt, route: AttackRoute, scene: ClientScene): Promise<ClientSight> => {
  const { steps } = attempt.exchange as HttpExchange;
  const told: Told = {
    sent: [],
    received: [],
    status: 0,
    isComplete: false,
    isOurs: false,
    isAnswered: false,
    excerpt: undefined,
  };
  let sentBytes = 0;
  let rxBytes = 0;
  let dialog: Dialog | undefined;
  for (const [index, step] of steps.entries()) {
    if (step.delayMs !== undefined) await sleep(step.delayMs, undefined, { signal: scene.signal }).catch(() => {});
    dialog = await Dialog.open(route, scene);
    told.isComplete = false;
    told.isAnswered = false;
    told.isOurs = false;
    const goesOn = dialog.isOpen && (await takeStep({ dialog, attempt, route, scene, told }, step, index));
    sentBytes += dialog.sentBytes;
    rxBytes += dialog.rxBytes;
    dialog.close();
    if (!goesOn) break;
  }
  const last = dialog as Dialog;
  return {
    ip: last.ip,
    port: last.port,
    connect: last.connect,
    isComplete: told.isComplete,
    sentBytes,
    sentSha256: joinedHash(told.sent),
    end: told.isAnswered ? 'response' : last.end,
    status: told.status,
    rxBytes,
    rxSha256: joinedHash(told.received),
    responseIsOurs: told.isOurs,
    ttfbMs: last.ttfbMs,
    ...(last.ownError !== undefined && { error: last.ownError }),
    ...(told.excerpt !== undefined && { excerpt: told.excerpt.toString('base64') }),
  };
};

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
