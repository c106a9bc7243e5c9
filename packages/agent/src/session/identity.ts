import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isPublicKeyText, signSession, type ToAgent } from '@rushhour/protocol';
import { writeDurably } from '../files/durable-file.ts';

interface Stored {
  readonly uuid: string;
  /** PKCS8, PEM. */
  readonly privateKey: string;
  /** Id of the controller it is enrolled with. */
  readonly controllerId?: string;
  readonly agentId?: number;
  /** Public key of that controller, pinned at the enrolment. */
  readonly controllerKey?: string;
  /** Keys that may sign upgrade packages, as the controller named them at the enrolment. */
  readonly packageKeys?: readonly string[];
}

type Enrolment = Pick<Extract<ToAgent, { type: 'welcome' }>, 'controllerId' | 'agentId' | 'packageKeys'> & {
  readonly controllerKey: string;
};

const fileOf = (dataDir: string) => join(dataDir, 'identity.json');

const read = async (file: string): Promise<Stored | undefined> => {
  try {
    await chmod(file, 0o600);
    return JSON.parse(await readFile(file, 'utf8')) as Stored;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(`${file} could not be read: ${(error as Error).message}`, { cause: error });
  }
};

/** The identity of the agent: a key pair and a UUID, independent of its name and address. */
export class Identity {
  readonly #file: string;
  readonly #key: KeyObject;
  #stored: Stored;

  private constructor(file: string, stored: Stored) {
    this.#file = file;
    this.#stored = stored;
    this.#key = createPrivateKey(stored.privateKey);
  }

  /** Creates the identity if there is none yet. */
  static async load(dataDir: string): Promise<Identity> {
    const file = fileOf(dataDir);
    const found = await read(file);
    if (found !== undefined) return new Identity(file, found);
    const { privateKey } = generateKeyPairSync('ed25519');
    const made = { uuid: randomUUID(), privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string };
    await writeDurably(file, JSON.stringify(made));
    return new Identity(file, made);
  }

  get uuid(): string {
    return this.#stored.uuid;
  }

  get isEnrolled(): boolean {
    return this.#stored.controllerId !== undefined;
  }

  get controllerId(): string | undefined {
    return this.#stored.controllerId;
  }

  /** Undefined until the enrolment, and for agents enrolled with a version that did not pin it. */
  get controllerKey(): string | undefined {
    return this.#stored.controllerKey;
  }

  get packageKeys(): readonly string[] {
    return this.#stored.packageKeys ?? [];
  }

  /** The members of a proof, for one connection. */
  prove(digest: string): { uuid: string; publicKey: string; signature: string } {
    return {
      uuid: this.uuid,
      publicKey: createPublicKey(this.#key).export({ type: 'spki', format: 'der' }).toString('base64'),
      signature: signSession(digest, this.#key),
    };
  }

  /**
   * Stores the controller the agent is enrolled with. The package keys are those of the first welcome: later ones
   * cannot change which packages this machine accepts.
   */
  async remember({ controllerId, agentId, packageKeys, controllerKey }: Enrolment): Promise<void> {
    const { controllerId: belongsTo, agentId: number, controllerKey: pinnedKey } = this.#stored;
    if (belongsTo === controllerId && number === agentId && pinnedKey === controllerKey) return;
    const pinned = this.isEnrolled ? {} : { packageKeys: packageKeys.filter(isPublicKeyText) };
    this.#stored = { ...this.#stored, controllerId, agentId, controllerKey, ...pinned };
    await writeDurably(this.#file, JSON.stringify(this.#stored));
  }
}
