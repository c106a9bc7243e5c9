import { Code, Text, Tooltip } from '@mantine/core';
import { useRef } from 'react';
import { text } from '../../lib/text.ts';
import { bytesBetween, linesOf, type Mark } from './byte-lines.ts';
import classes from './step-bytes.module.css';

interface StepBytesProps {
  label: string;
  bytes: Uint8Array;
  /** Length of the whole step; `bytes` may be only its beginning. */
  length: number;
  form: 'text' | 'hex';
  marks?: readonly Mark[];
  /** Called with the bytes that the user selected. */
  onMark?: (range: { offset: number; length: number }) => void;
}

/** The payload of a step. The text contains nothing else, so that positions in a selection are positions in the bytes. */
export const StepBytes = ({ label, bytes, length, form, marks = [], onMark }: StepBytesProps) => {
  const box = useRef<HTMLElement>(null);
  const report = () => {
    const range = box.current && selectedIn(box.current, form);
    if (range && range.length > 0) onMark?.(range);
  };
  return (
    <>
      <Code
        block
        ref={box as never}
        className={classes['bytes'] ?? ''}
        tabIndex={0}
        aria-label={label}
        role="group"
        onMouseUp={report}
        onKeyUp={(event) => event.shiftKey && report()}
      >
        {linesOf(bytes, marks, form).map(({ start, segments }) => (
          <div key={start}>
            {segments.map(({ start: at, text: content, mark }) =>
              mark ? (
                <Tooltip key={at} label={mark.label}>
                  <mark>{content}</mark>
                </Tooltip>
              ) : (
                <span key={at}>{content}</span>
              ),
            )}
          </div>
        ))}
      </Code>
      {length > bytes.length && (
        <Text size="xs" c="dimmed">
          {text.capture.notShown(length - bytes.length)}
        </Text>
      )}
    </>
  );
};

const selectedIn = (box: HTMLElement, form: 'text' | 'hex') => {
  const selection = document.getSelection();
  if (selection === null || selection.rangeCount === 0 || selection.isCollapsed) return undefined;
  const range = selection.getRangeAt(0);
  if (!box.contains(range.startContainer) || !box.contains(range.endContainer)) return undefined;
  const before = document.createRange();
  before.setStart(box, 0);
  before.setEnd(range.startContainer, range.startOffset);
  const from = before.toString().length;
  return bytesBetween(from, from + range.toString().length, form);
};
