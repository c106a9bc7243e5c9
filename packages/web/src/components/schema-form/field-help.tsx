import { Tooltip, VisuallyHidden } from '@mantine/core';
import { IconInfoCircle } from '@tabler/icons-react';
import { useContext } from 'react';
import { Dense } from './dense.ts';
import classes from './field-help.module.css';
import { Help } from './help.tsx';

/** The label of a field; in a dense form its help is behind an icon. */
export const FieldLabel = ({ label, help }: { label: string; help: string | undefined }) => {
  const isDense = useContext(Dense);
  if (!isDense || help === undefined) return label;
  return (
    <>
      {label}{' '}
      <Tooltip label={<Help text={help} />} multiline maw={360} events={{ hover: true, focus: true, touch: true }}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the focus shows the help; screen readers have it with the field */}
        <span tabIndex={0} className={classes['help']}>
          <IconInfoCircle size={14} aria-hidden />
        </span>
      </Tooltip>
    </>
  );
};

/** The help of a field: below its label, or for screen readers only in a dense form. */
export const FieldHelp = ({ help }: { help: string }) => {
  const isDense = useContext(Dense);
  return isDense ? (
    <VisuallyHidden component="span">
      <Help text={help} />
    </VisuallyHidden>
  ) : (
    <Help text={help} />
  );
};
