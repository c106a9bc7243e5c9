import { Button, type ButtonProps, Group, Modal, type ModalProps, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { text } from '../lib/text.ts';
import { Problem } from './problem.tsx';

interface DialogButtonsProps {
  onCancel: () => void;
  /** Submits the form around the buttons when left out. */
  onConfirm?: () => void;
  label?: string;
  color?: string;
  isBusy?: boolean;
  isDisabled?: boolean;
}

/** Cancel and confirm, at the bottom of a dialog. */
export const DialogButtons = (props: DialogButtonsProps) => {
  const { onCancel, onConfirm, label = text.table.save, color, isBusy = false, isDisabled = false } = props;
  return (
    <Group justify="flex-end">
      <Button variant="default" onClick={onCancel}>
        {text.table.cancel}
      </Button>
      <Button
        {...(color !== undefined && { color })}
        {...(onConfirm === undefined ? { type: 'submit' as const } : { onClick: onConfirm })}
        loading={isBusy}
        disabled={isDisabled}
      >
        {label}
      </Button>
    </Group>
  );
};

interface FormDialogProps extends Pick<DialogButtonsProps, 'label' | 'isBusy' | 'isDisabled'> {
  title: string;
  size?: ModalProps['size'];
  onClose: () => void;
  onSubmit: () => void;
  /** What the controller refused; `null` and `undefined` mean nothing. */
  error?: unknown;
  /** Replaces the usual buttons. */
  buttons?: ReactNode;
  children: ReactNode;
}

/** A form in a dialog. A click outside does not close it, and closing it with input asks first: it would be lost. */
export const FormDialog = (props: FormDialogProps) => {
  const { title, size = 'lg', onClose, onSubmit, error, buttons, children, ...rest } = props;
  const [isChanged, setChanged] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const hasProblem = error !== null && error !== undefined;
  const close = () => (isChanged || hasProblem ? setAsking(true) : onClose());
  return (
    <Modal opened onClose={close} title={title} size={size} closeOnClickOutside={false}>
      {isAsking && <DiscardDialog onStay={() => setAsking(false)} onDiscard={onClose} />}
      <form
        ref={focusFirst}
        noValidate
        onChange={() => setChanged(true)}
        onClick={({ target }) => isIn(target, '[role=option]') && setChanged(true)}
        onKeyDown={({ target, key }) => key === 'Enter' && isIn(target, '[role=combobox]') && setChanged(true)}
        onSubmit={(event) => {
          event.preventDefault();
          setChanged(false);
          onSubmit();
        }}
      >
        <Stack>
          {children}
          {hasProblem && <Problem error={error} />}
          {buttons ?? <DialogButtons onCancel={close} {...rest} />}
        </Stack>
      </form>
    </Modal>
  );
};

/** Choices of a list are outside of the form, but React reports their clicks to it. */
const isIn = (target: EventTarget, selector: string) => target instanceof Element && target.closest(selector) !== null;

const DiscardDialog = ({ onStay, onDiscard }: { onStay: () => void; onDiscard: () => void }) => (
  <Modal opened onClose={onStay} title={text.unsaved.title} zIndex={400}>
    <Stack>
      <Text size="sm">{text.unsaved.dialogText}</Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={onStay} data-autofocus>
          {text.unsaved.stay}
        </Button>
        <Button color="red" onClick={onDiscard}>
          {text.unsaved.discard}
        </Button>
      </Group>
    </Stack>
  </Modal>
);

/** Marks the first field for the focus, which the dialog would otherwise give to its close button. */
const focusFirst = (form: HTMLFormElement | null) =>
  form
    ?.querySelector('input:not([role=combobox], [type=radio], [type=checkbox]), textarea')
    ?.setAttribute('data-autofocus', '');

interface ConfirmDialogProps extends Omit<DialogButtonsProps, 'onCancel'> {
  title: string;
  onConfirm: () => void;
  onClose: () => void;
  error?: unknown;
  children: ReactNode;
}

/** Asks before something is done. */
export const ConfirmDialog = ({ title, onClose, error, children, ...buttons }: ConfirmDialogProps) => (
  <Modal opened onClose={onClose} title={title}>
    <Stack>
      {typeof children === 'string' ? <Text size="sm">{children}</Text> : children}
      {error !== null && error !== undefined && <Problem error={error} />}
      <DialogButtons onCancel={onClose} {...buttons} />
    </Stack>
  </Modal>
);

interface DialogButtonProps extends Pick<ButtonProps, 'variant' | 'size' | 'leftSection'> {
  label: string;
  children: (close: () => void) => ReactNode;
}

/** A button that opens a dialog. */
export const DialogButton = ({ label, children, ...rest }: DialogButtonProps) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button {...rest} onClick={() => setOpen(true)}>
        {label}
      </Button>
      {isOpen && children(() => setOpen(false))}
    </>
  );
};
