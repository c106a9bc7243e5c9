import type { FileUpload } from '@rushhour/contract';

export type Category = FileUpload['category'];

const storageKey = 'rushhour.uploads';
const maxRemembered = 50;

interface Remembered {
  readonly id: number;
  readonly name: string;
  readonly size: number;
  readonly modifiedAt: number;
}

const read = (): Remembered[] => {
  try {
    return JSON.parse(localStorage.getItem(storageKey) ?? '[]');
  } catch {
    return [];
  }
};

const write = (all: readonly Remembered[]) =>
  localStorage.setItem(storageKey, JSON.stringify(all.slice(-maxRemembered)));

const isOf =
  (file: File) =>
  ({ name, size, modifiedAt }: Remembered) =>
    name === file.name && size === file.size && modifiedAt === file.lastModified;

/** Unfinished uploads of this browser. Choosing the same file again resumes its upload. */
export const rememberedUploads = (): readonly Remembered[] => read();
export const rememberedId = (file: File): number | undefined => read().find(isOf(file))?.id;
export const rememberUpload = (file: File, id: number) =>
  write([...read(), { id, name: file.name, size: file.size, modifiedAt: file.lastModified }]);
export const forgetUpload = (file: File) => write(read().filter((one) => !isOf(file)(one)));
export const forgetId = (id: number) => write(read().filter((one) => one.id !== id));
