export type StepSide = 'client' | 'server';

/** A byte range in the recorded payload of an application; length 0 is an insertion. */
export interface StepRegion {
  readonly sessionIdx: number;
  readonly stepIdx: number;
  readonly side: StepSide;
  readonly offset: number;
  readonly length: number;
}

/** A parameter as far as it touches payload. */
export interface MappedParameter {
  readonly name: string;
  readonly source: string;
  readonly extractSessionIdx: number;
  readonly extractStepIdx: number;
  readonly extractOffset: number;
  readonly extractLength: number;
  readonly stepsMappings: readonly StepRegion[];
}

/** The facts about a recorded step that mapping checks need. */
export interface StepOutline {
  readonly side: StepSide;
  readonly length: number;
  /** After the first packet of the capture. */
  readonly atMs: number;
}

export interface MappingIssue {
  /** JSON pointer into the application. */
  readonly path: string;
  readonly code: MappingIssueCode;
  readonly message: string;
  readonly severity: 'error' | 'warning';
}

export type MappingIssueCode =
  | 'MAPPING_OUT_OF_RANGE'
  | 'MAPPING_SIDE'
  | 'MAPPING_OVERLAP'
  | 'EXTRACT_OUT_OF_RANGE'
  | 'EXTRACT_TOO_LATE'
  | 'EXTRACT_OVERLAP'
  | 'LENGTH_CHANGE_UNSAFE';
