export interface Line {
  readonly label: string;
  readonly color: string;
  readonly values: readonly (number | null)[];
  /** Fills the area down to the previous line. */
  readonly isBand?: boolean;
  readonly isDashed?: boolean;
  readonly isDotted?: boolean;
}

export interface Mark {
  /** Unix time in milliseconds. */
  readonly at: number;
  readonly label: string;
  readonly color: string;
}

/** A part of the time axis, such as a ramp or a pause. */
export interface Span {
  /** Unix time in milliseconds. */
  readonly from: number;
  readonly to: number;
  readonly label: string;
  readonly color: string;
}

/** The visible part of the time axis in seconds; all of it when undefined. */
export type Zoom = readonly [number, number] | undefined;

export interface TimeChartProps {
  readonly title: string;
  /** Milliseconds: Unix time, or since the start with `isRelative`. */
  readonly t: readonly number[];
  readonly isRelative?: boolean;
  readonly lines: readonly Line[];
  readonly marks?: readonly Mark[];
  readonly spans?: readonly Span[];
  readonly format: (value: number) => string;
  readonly height?: number;
  readonly zoom?: Zoom;
  readonly onZoom?: (zoom: Zoom) => void;
  /** The legend shows the newest value of a live chart. */
  readonly isLive?: boolean;
}

/** What the chart reads while it draws. */
export type Shown = Pick<TimeChartProps, 'format' | 'onZoom'> & { marks: readonly Mark[]; spans: readonly Span[] };
