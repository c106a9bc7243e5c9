import '@fontsource-variable/figtree/wght.css';
import './app/mantine.css';
import './app/app.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './app/query-client.ts';
import { router } from './app/router.tsx';
import { theme } from './app/theme.ts';
import { ToastProvider } from './components/toasts.tsx';

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');

createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <ToastProvider>
          <RouterProvider router={router} />
        </ToastProvider>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
