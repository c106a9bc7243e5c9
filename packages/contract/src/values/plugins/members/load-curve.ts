import type { StageValues } from './values.ts';

/** A period in which the load changes evenly. */
export interface LoadPiece {
  readonly seconds: number;
  readonly from: number;
  readonly to: number;
}

/** Pieces that a wave is drawn with. */
const wavePieces = 32;

const waveOf = (base: number, top: number, seconds: number): LoadPiece[] => {
  const levelAt = (piece: number) => base + ((top - base) * (1 - Math.cos((2 * Math.PI * piece) / wavePieces))) / 2;
  return Array.from({ length: wavePieces }, (_, piece) => ({
    seconds: seconds / wavePieces,
    from: levelAt(piece),
    to: levelAt(piece + 1),
  }));
};

const piecesOf = (level: number, { seconds, target, shape }: StageValues): LoadPiece[] => {
  const half = seconds / 2;
  switch (shape) {
    case 'linear':
      return [{ seconds, from: level, to: target }];
    case 'step':
      return [{ seconds, from: target, to: target }];
    case 'spike':
      return [
        { seconds: half, from: level, to: target },
        { seconds: half, from: target, to: level },
      ];
    case 'sine':
      return waveOf(level, target, seconds);
  }
};

/** Load over time: stages begin at the level where the one before has ended, the first at 0. */
export const loadCurveOf = (stages: readonly StageValues[]): LoadPiece[] => {
  let level = 0;
  return stages.flatMap((stage) => {
    const pieces = piecesOf(level, stage);
    level = pieces.at(-1)?.to ?? level;
    return pieces;
  });
};

export const stagesSeconds = (stages: readonly StageValues[]): number =>
  stages.reduce((sum, { seconds }) => sum + seconds, 0);

/** The highest load of all stages. */
export const stagesPeak = (stages: readonly StageValues[]): number =>
  Math.max(0, ...stages.map(({ target }) => target));

/** The stages of the first `seconds`; an even change that is cut off ends where it is then. */
export const stagesWithin = (stages: readonly StageValues[], seconds: number): StageValues[] => {
  let [level, left] = [0, seconds];
  return stages.flatMap((stage) => {
    const length = Math.min(left, stage.seconds);
    left -= length;
    if (length <= 0) return [];
    const isCut = length < stage.seconds && stage.shape === 'linear';
    const target = isCut ? Math.round(level + ((stage.target - level) * length) / stage.seconds) : stage.target;
    level = piecesOf(level, stage).at(-1)?.to ?? level;
    return [{ ...stage, seconds: length, target }];
  });
};
