import { Notification, Portal, Stack } from '@mantine/core';
import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from 'react';
import { explain } from '../lib/explain.ts';
import { text as texts } from '../lib/text.ts';
import { Explanation } from './explanation.tsx';

interface Toast {
  id: number;
  kind: 'done' | 'problem';
  title: string;
  text?: string;
  error?: unknown;
}

interface Toasts {
  /** Reports success; disappears after a few seconds. */
  done(title: string, text?: string): void;
  /** Reports an error; stays until it is closed. */
  problem(error: unknown, title?: string): void;
}

const Context = createContext<Toasts | undefined>(undefined);
const doneMs = 4000;
let count = 0;

export const ToastProvider = ({ children }: { children: ReactNode }) => {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const close = useCallback((id: number) => setToasts((all) => all.filter((toast) => toast.id !== id)), []);
  const value = useMemo<Toasts>(() => {
    const add = (toast: Omit<Toast, 'id'>) => {
      const id = ++count;
      setToasts((all) => [
        ...all.filter((old) => old.title !== toast.title || old.text !== toast.text),
        { ...toast, id },
      ]);
      return id;
    };
    return {
      done: (title, text) => {
        const id = add({ kind: 'done', title, ...(text !== undefined && { text }) });
        setTimeout(() => close(id), doneMs);
      },
      problem: (error, title = texts.errors.title) => void add({ kind: 'problem', title, text: explain(error), error }),
    };
  }, [close]);
  return (
    <Context.Provider value={value}>
      {children}
      <Portal>
        <Stack gap="xs" pos="fixed" bottom={16} right={16} w="min(26rem, calc(100vw - 2rem))" style={{ zIndex: 500 }}>
          {toasts.map(({ id, kind, title, text, error }) => (
            <Notification
              key={id}
              role={kind === 'problem' ? 'alert' : 'status'}
              color={kind === 'problem' ? 'red' : 'teal'}
              title={title}
              withBorder
              onClose={() => close(id)}
              closeButtonProps={{ 'aria-label': texts.errors.close }}
              style={{ whiteSpace: 'pre-line' }}
            >
              {kind === 'problem' ? <Explanation error={error} /> : text}
            </Notification>
          ))}
        </Stack>
      </Portal>
    </Context.Provider>
  );
};

export const useToasts = (): Toasts => {
  const toasts = useContext(Context);
  if (toasts === undefined) throw new Error('useToasts needs a ToastProvider around it');
  return toasts;
};
