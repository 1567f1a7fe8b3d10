import { serve } from 'srvx';
import sagas from './server.js';

// Serves on PORT, or 3000.
serve({ fetch: (request) => sagas.fetch(request), hostname: '127.0.0.1' });
