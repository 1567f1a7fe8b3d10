import { serve } from 'srvx';
import sagas from './api/mcp.js';

// Serves the function on this computer, on PORT or 3000, without an account.
serve({ fetch: (request) => sagas.fetch(request), hostname: '127.0.0.1' });
