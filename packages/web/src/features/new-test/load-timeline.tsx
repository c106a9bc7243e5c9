import type { TemplateParameter } from '@rushhour/contract';
import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react';
import { text } from '../../lib/text.ts';
import { clock } from '../../lib/units.ts';
import { labelOf } from '../../texts/labels.ts';
import { amountOf, type LoadShape, snapped } from './load-shape.ts';
import classes from './load-timeline.module.css';
import type { NewTestForm } from './new-test-form.ts';

interface LoadTimelineProps {
  shape: LoadShape;
  values: NewTestForm['values'];
  onChange: (name: string, value: number) => void;
}

interface Drag {
  /** The longest time and the highest load that are drawn. */
  readonly seconds: number;
  readonly load: number;
}

/** The load over time, as the fields have it; its edges can be dragged, or moved by the arrow keys. */
export const LoadTimeline = ({ shape: { duration, level, warmUp }, values, onChange }: LoadTimelineProps) => {
  const frame = useRef<HTMLDivElement>(null);
  // The scale stays as it is while something is dragged.
  const [drag, setDrag] = useState<Drag>();
  const seconds = amountOf(duration, values);
  const load = level && amountOf(level, values);
  if (seconds === undefined || (level !== undefined && load === undefined)) return null;
  const scale = drag ?? { seconds: 2 * Math.max(1, seconds), load: 2 * Math.max(1, load ?? 1) };
  const width = Math.min(100, (100 * seconds) / scale.seconds);
  const height = load === undefined ? 50 : Math.min(100, (100 * load) / scale.load);
  const warmUpSec = (warmUp && amountOf(warmUp, values)) ?? 0;
  const handle = { frame, onDrag: (isHeld: boolean) => setDrag(isHeld ? scale : undefined), onChange };
  return (
    <section className={classes['frame']} ref={frame} aria-label={text.newTest.timeline}>
      <div className={classes['area']} style={{ width: `${width}%`, height: `${height}%` }}>
        {warmUpSec > 0 && (
          <div className={classes['warm-up']} style={{ width: `${Math.min(100, (100 * warmUpSec) / seconds)}%` }} />
        )}
      </div>
      {level !== undefined && load !== undefined && (
        <>
          <span className={`${classes['value']} numbers`} style={{ bottom: `${height}%` }}>
            {load.toLocaleString('en')} {level.unit ?? ''}
          </span>
          <Handle {...handle} parameter={level} value={load} range={scale.load} left={width / 2} bottom={height} isUp />
        </>
      )}
      <span className={`${classes['value']} numbers`} style={{ left: `${width}%`, bottom: 0 }}>
        {clock(seconds)}
      </span>
      <Handle
        {...handle}
        parameter={duration}
        value={seconds}
        range={scale.seconds}
        left={width}
        bottom={height / 2}
        isUp={false}
      />
    </section>
  );
};

interface HandleProps {
  frame: React.RefObject<HTMLDivElement | null>;
  parameter: TemplateParameter;
  value: number;
  /** The value at the end of the axis. */
  range: number;
  /** In percent of the frame. */
  left: number;
  bottom: number;
  isUp: boolean;
  onDrag: (isHeld: boolean) => void;
  onChange: (name: string, value: number) => void;
}

const steps: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };

const Handle = ({ frame, parameter, value, range, left, bottom, isUp, onDrag, onChange }: HandleProps) => {
  const { name, label, min, max } = parameter;
  const set = (next: number) => onChange(name, snapped(next, parameter));
  const follow = (event: PointerEvent) => {
    const box = frame.current?.getBoundingClientRect();
    if (box === undefined || !event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const share = isUp ? (box.bottom - event.clientY) / box.height : (event.clientX - box.left) / box.width;
    set(share * range);
  };
  const move = (event: KeyboardEvent) => {
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    set(value + step * Math.max(1, value / 10));
  };
  return (
    <div
      role="slider"
      tabIndex={0}
      className={classes['handle']}
      style={{ left: `${left}%`, bottom: `${bottom}%` }}
      aria-label={label ?? labelOf(name)}
      aria-orientation={isUp ? 'vertical' : 'horizontal'}
      aria-valuenow={value}
      aria-valuemin={min}
      aria-valuemax={max}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        onDrag(true);
      }}
      onPointerMove={follow}
      onPointerUp={() => onDrag(false)}
      onPointerCancel={() => onDrag(false)}
      onKeyDown={move}
    />
  );
};
