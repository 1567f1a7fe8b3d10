// Loaded into a server process by start-server.ts. A process that was killed cannot end its children, but its end
// of their standard input closes, however it died.
process.stdin.once('close', () => process.exit()).resume();
