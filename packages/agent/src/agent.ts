import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type AgentFacts, type AgentLimits, type Question, releaseKeys } from '@rushhour/protocol';
import { CaptureStore } from './captures/capture-store.ts';
import type { AgentConfig } from './config.ts';
import { engines } from './engines/index.ts';
import { FileStore } from './files/file-store.ts';
import type { Log } from './log/log.ts';
import type { LogFile } from './log/log-file.ts';
import type { LogShipper } from './log/log-shipper.ts';
import { collectFacts } from './machine/facts.ts';
import { HealthMeter } from './machine/health.ts';
import { describeHost } from './machine/host.ts';
import { LinkMonitor } from './machine/interfaces.ts';
import { sweepLocalRoutes } from './net/addresses/local-routes.ts';
import { createAnswers } from './questions.ts';
import { ResultsFolder } from './runs/supervisor/results-folder.ts';
import { Supervisor } from './runs/supervisor/supervisor.ts';
import type { Identity } from './session/identity.ts';
import type { BadMessage } from './session/parse-message.ts';
import { Session, type SessionMessage } from './session/session.ts';
import { checkStack } from './stack/ports/open-stack.ts';
import { Versions } from './upgrade/versions.ts';
import { agentVersion } from './version.ts';

export interface AgentDeps {
  readonly config: AgentConfig;
  readonly identity: Identity;
  readonly machineId: string;
  readonly log: Log;
  readonly logFile: LogFile;
  readonly shipper: LogShipper;
  /** The session is open and this version is confirmed as working. */
  readonly onContact: () => void;
}

export type Ending = 'stop' | 'restart';

const shipEveryMs = 500;
const watchEveryMs = 2000;
const maxLogBytes = 3 * 1024 * 1024;

/** One agent: its session with the controller and everything the controller can do through it. */
export class Agent {
  readonly #deps: AgentDeps;
  readonly #session: Session;
  readonly #supervisor: Supervisor;
  readonly #files: FileStore;
  readonly #captures: CaptureStore;
  readonly #versions: Versions;
  readonly #answer: (question: Question) => Promise<unknown>;
  readonly #links = new LinkMonitor();
  readonly #timers: NodeJS.Timeout[] = [];
  #limits: AgentLimits | undefined;
  #ending: Ending | undefined;
  #closing: Promise<void> | undefined;

  constructor(deps: AgentDeps) {
    this.#deps = deps;
    const { dataDir } = deps.config;
    const cacheFolder = join(dataDir, 'compile-cache');
    this.#session = this.#createSession();
    const send = this.#session.send.bind(this.#session);
    this.#files = new FileStore({
      folder: join(dataDir, 'files'),
      log: deps.log.of('files'),
      send,
      hold: (isHeld) => this.#session.hold(isHeld),
      inUse: () => this.#supervisor.filesInUse,
    });
    this.#captures = new CaptureStore({
      folder: join(dataDir, 'dumps'),
      ...{ cacheFolder, send, log: deps.log.of('dumps') },
      controller: () => this.#session.peer,
    });
    this.#supervisor = new Supervisor({
      cacheFolder,
      captures: this.#captures,
      log: deps.log,
      uplink: this.#session,
      clock: this.#session.clock,
      fetch: (files) => this.#files.fetchAll(files),
      onCrash: () => void sweepLocalRoutes(),
      results: new ResultsFolder(join(dataDir, 'results')),
    });
    this.#versions = new Versions(dataDir);
    this.#answer = createAnswers({
      files: this.#files,
      captures: this.#captures,
      versions: this.#versions,
      trustedKeys: () => [...releaseKeys, ...deps.config.packageKeys, ...deps.identity.packageKeys],
      cacheFolder,
      allowedTargets: () => this.#limits?.allowedTargets ?? [],
      rescan: () => this.#facts(this.#session.localAddress),
      readLogs: () => deps.logFile.read(maxLogBytes),
      reset: () => this.#reset(),
      // After the answer is sent.
      restart: (reason) => setImmediate(() => this.end('restart', reason)),
    });
  }

  /** Runs until `end` is called; throws `Refusal`. Returns how it ends. */
  async run(): Promise<Ending> {
    const swept = await sweepLocalRoutes();
    if (swept > 0) this.#deps.log.info(`removed ${swept} stale routes of earlier agents`);
    await mkdir(join(this.#deps.config.dataDir, 'files'), { recursive: true, mode: 0o700 });
    await this.#supervisor.load();
    await this.#captures.load();
    this.#timers.push(
      setInterval(() => this.#deps.shipper.ship((message) => this.#session.send(message)), shipEveryMs),
      setInterval(() => this.#watchLinks(), watchEveryMs),
    );
    try {
      await this.#session.run();
    } finally {
      await this.#close();
    }
    return this.#ending ?? 'stop';
  }

  end(ending: Ending, reason: string): void {
    if (this.#ending !== undefined) return;
    this.#ending = ending;
    this.#deps.log.info(`ending: ${reason}`);
    void this.#close();
  }

  /**
   * Ends runs while the controller is still connected, keeps unacknowledged results on disk, and closes the session.
   */
  #close(): Promise<void> {
    this.#closing ??= (async () => {
      await this.#supervisor.close();
      await this.#captures.close();
      for (const timer of this.#timers) clearInterval(timer);
      this.#files.close();
      this.#deps.shipper.ship((message) => this.#session.send(message));
      await this.#session.close();
    })();
    return this.#closing;
  }

  #createSession(): Session {
    const { config, identity, log } = this.#deps;
    const health = new HealthMeter(config.dataDir);
    return new Session({
      config,
      identity,
      bootId: randomUUID(),
      log: log.of('session'),
      facts: (localAddress) => this.#facts(localAddress),
      health: health.take,
      heldRuns: () => this.#supervisor.held,
      onOpen: () => this.#opened(),
      onClose: () => this.#supervisor.sessionClosed(),
      onLimits: (limits) => {
        this.#limits = limits;
        this.#supervisor.limits = limits;
      },
      onMessage: (message) => this.#handle(message),
      onFile: (frame) => this.#files.take(frame),
      onBadMessage: (problem) => this.#handleBad(problem),
    });
  }

  #opened(): void {
    void this.#confirmVersion();
    this.#supervisor.sessionOpened();
    this.#files.sessionOpened();
    this.#captures.sessionOpened();
  }

  async #confirmVersion(): Promise<void> {
    try {
      if (this.#versions.isInstalled) await this.#versions.confirm(agentVersion);
      this.#deps.onContact();
    } catch (error) {
      this.#deps.log.error(`could not record that version ${agentVersion} works: ${(error as Error).message}`);
    }
  }

  #handle(message: SessionMessage): void {
    if (message.type === 'question') void this.#reply(message.id, message.question);
    else if (message.type === 'noFile') this.#files.refuse(message.sha256, message.reason);
    else if (message.type === 'forgetDump') void this.#captures.forget(message);
    else this.#supervisor.handle(message);
  }

  async #reply(id: number, question: Question): Promise<void> {
    try {
      const result = await this.#answer(question);
      this.#session.send({ type: 'answer', id, ok: true, result });
    } catch (error) {
      this.#deps.log.warn(`${question.kind} failed: ${(error as Error).message}`);
      this.#session.send({ type: 'answer', id, ok: false, error: (error as Error).message });
    }
  }

  #handleBad({ content, message }: BadMessage): void {
    const { type, id, runId, epoch } = content;
    if (type === 'question' && Number.isInteger(id)) {
      this.#session.send({ type: 'answer', id: id as number, ok: false, error: message });
    }
    if (type === 'prepare' && Number.isInteger(runId) && Number.isInteger(epoch)) {
      this.#supervisor.refuse({ runId: runId as number, epoch: epoch as number }, message);
    }
  }

  async #facts(controllerVia: string): Promise<AgentFacts> {
    const { machineId } = this.#deps;
    return collectFacts({ machineId, engines, host: describeHost(), controllerVia, checks: { stack: checkStack } });
  }

  async #reset(): Promise<void> {
    await this.#supervisor.reset();
    await sweepLocalRoutes();
  }

  #watchLinks(): void {
    const changes = this.#links.take();
    for (const { name, link } of changes) {
      const message = `the link of ${name} is ${link}`;
      this.#deps.log.warn(message);
      const isDown = link === 'down';
      this.#supervisor.announce({
        kind: isDown ? 'linkDown' : 'linkUp',
        severity: isDown ? 'warning' : 'info',
        message,
      });
    }
    if (changes.length === 0) return;
    void this.#facts(this.#session.localAddress).then((facts) => this.#session.send({ type: 'facts', facts }));
  }
}
