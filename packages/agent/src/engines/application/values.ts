import { createDraw, type Draw, encodeParameter, parameterValue, type SystemValue } from '@rushhour/pools';
import type { ApplicationConfig, ApplicationPlay, PlayedParameter } from '@rushhour/protocol';

/** One iteration of one user. */
export interface UserIteration {
  readonly user: number;
  readonly iteration: number;
}

/** Values known only to one end of a connection, or read from its clock. */
const localNames = ['clientIp', 'clientPort', 'serverIp', 'serverPort', 'nowUnix', 'nowIso'] as const;
export type LocalName = (typeof localNames)[number];
export type LocalValues = Partial<Record<LocalName, string>>;

/** Placeholders for unknown values, of the same length where the length is fixed. */
export const localSamples: Readonly<Record<LocalName, string>> = {
  clientIp: '10.0.0.1',
  serverIp: '10.0.0.2',
  clientPort: '40000',
  serverPort: '40001',
  nowUnix: '1700000000',
  nowIso: '2024-01-01T00:00:00.000Z',
};

/** The local value a parameter refers to. */
export const localNameOf = ({ source, defaultValue }: PlayedParameter): LocalName | undefined =>
  source === 'system' ? localNames.find((name) => name === defaultValue) : undefined;

const constants = new Set(['fixed', 'extract']);

/** The values differ between users or iterations. */
export const isVarying = (parameter: PlayedParameter): boolean => {
  const { source, defaultValue, allowedValues } = parameter;
  if (constants.has(source) || localNameOf(parameter) !== undefined) return false;
  if (source === 'list') return allowedValues.length > 1;
  return !(source === 'system' && defaultValue === 'taskId');
};

/** A dictionary has no row left for this user iteration. */
export class ValuesEnded extends Error {}

/** Computes parameter values; both sides compute the same values for the same user iteration. */
export class Values {
  readonly #play: ApplicationPlay;
  readonly #draws: ReadonlyMap<number, Draw>;
  readonly #taskId: number;

  constructor(play: ApplicationPlay, { dictionaries, taskId }: Pick<ApplicationConfig, 'dictionaries' | 'taskId'>) {
    this.#play = play;
    this.#taskId = taskId;
    this.#draws = new Map(
      dictionaries.map((dictionary) => [
        dictionary.id,
        createDraw(dictionary as Parameters<typeof createDraw>[0], { seed: play.seed, users: play.users }),
      ]),
    );
  }

  /** The bytes inserted into steps. Throws a RangeError when the value does not fit the type. */
  bytesOf(parameter: PlayedParameter, userIteration: UserIteration, local: LocalValues): Uint8Array {
    const { seed, users } = this.#play;
    const system: Partial<Record<SystemValue, string | number>> = {
      ...localSamples,
      ...local,
      taskId: this.#taskId,
      attemptId: attemptOf(userIteration, users),
    };
    const value = parameterValue(parameter, {
      ...{ seed, users, system },
      ...userIteration,
      dictionary: (id, column) => this.#draws.get(id)?.value(userIteration, column),
    });
    if (value === undefined) throw new ValuesEnded(`the dictionary of parameter ${parameter.name} has no rows left`);
    return encodeParameter(parameter.type, value);
  }
}

/** A unique number for user and iteration. */
const attemptOf = ({ user, iteration }: UserIteration, users: number): number => iteration * users + user;
