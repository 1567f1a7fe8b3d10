import { catchLogs } from './logs.ts';

// A setup file: runs before each test file is imported.
catchLogs();
