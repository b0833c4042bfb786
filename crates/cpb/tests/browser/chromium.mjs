// Debian's Chromium, without a window.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import puppeteer from "puppeteer-core";

export const launch = () =>
  puppeteer.launch({
    executablePath: process.env.PATH.split(delimiter)
      .map((folder) => join(folder, "chromium"))
      .find(existsSync),
    // Root has no sandbox.
    args: process.getuid() === 0 ? ["--no-sandbox"] : [],
  });
