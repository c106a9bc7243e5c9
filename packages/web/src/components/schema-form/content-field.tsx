import { FileInput } from '@mantine/core';
import { type FieldProps, frameOf } from './field.ts';

const toBase64 = async (file: File): Promise<string> => {
  const bytes = new Uint8Array(await file.arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
};

/** A small file, sent in the form as base64. */
export const ContentField = (props: FieldProps) => (
  <FileInput
    {...frameOf(props)}
    clearable
    onChange={(file) => void (file === null ? props.onChange(undefined) : toBase64(file).then(props.onChange))}
  />
);
