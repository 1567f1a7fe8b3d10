declare module '*.css';

/** The version that the pages describe. */
declare const packageVersion: string;
