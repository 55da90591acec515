# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
"""As much of ELF as the probe tests need: sections, symbols, relocations and
the notes of sys/sdt.h, in 64-bit little-endian files."""

import re
import struct

SHF_ALLOC = 2
SHF_EXECINSTR = 4
SHT_SYMTAB = 2
SHT_RELA = 4
SHT_NOTE = 7
SHT_NOBITS = 8


class NotElf(Exception):
    pass


class Section:
    def __init__(self, fields, data):
        (self.name_off, self.type, self.flags, self.addr, self.offset,
         self.size, self.link, self.info, self.align, self.entsize) = fields
        self.name = ""
        self.data = b"" if self.type == SHT_NOBITS else \
            data[self.offset:self.offset + self.size]

    def executable(self):
        return bool(self.flags & SHF_EXECINSTR)


class Note:
    """One probe: provider, name, [(size, signed, operand), ...]."""

    def __init__(self, desc):
        self.location, self.base, self.semaphore = struct.unpack_from(
            "<3Q", desc)
        self.provider, self.name, args = [
            part.decode() for part in desc[24:].split(b"\0")[:3]]
        self.args = []
        for size, operand in re.findall(r"(-?\d+)@(\S+)", args):
            self.args.append((abs(int(size)), size.startswith("-"), operand))


def _string(data, offset):
    return data[offset:data.index(b"\0", offset)].decode()


class File:
    def __init__(self, path):
        with open(path, "rb") as f:
            data = f.read()
        if data[:6] != b"\x7fELF\x02\x01":
            raise NotElf(path)
        shoff, = struct.unpack_from("<Q", data, 40)
        entsize, num, strndx = struct.unpack_from("<3H", data, 58)
        self.sections = [
            Section(struct.unpack_from("<2I4Q2I2Q", data,
                                       shoff + i * entsize), data)
            for i in range(num)]
        names = self.sections[strndx].data
        for s in self.sections:
            s.name = _string(names, s.name_off)

    def symbols(self):
        """[(name, value, section index), ...]"""
        found = []
        for s in self.sections:
            if s.type != SHT_SYMTAB:
                continue
            strings = self.sections[s.link].data
            for off in range(0, len(s.data), 24):
                name, _, _, shndx, value, _ = struct.unpack_from(
                    "<IBBHQQ", s.data, off)
                found.append((_string(strings, name), value, shndx))
        return found

    def relocations(self, index):
        """Those of one section: [(offset, type, symbol or section, addend)]"""
        found = []
        symbols = self.symbols()
        for s in self.sections:
            if s.type != SHT_RELA or s.info != index:
                continue
            for off in range(0, len(s.data), 24):
                where, info, addend = struct.unpack_from("<QQq", s.data, off)
                name, _, shndx = symbols[info >> 32]
                if not name and shndx < len(self.sections):
                    name = self.sections[shndx].name
                found.append((where, info & 0xffffffff, name, addend))
        return found

    def notes(self, provider):
        found = []
        for s in self.sections:
            if s.type != SHT_NOTE or s.name != ".note.stapsdt":
                continue
            off = 0
            while off + 12 <= len(s.data):
                namesz, descsz, _ = struct.unpack_from("<3I", s.data, off)
                off += 12 + (namesz + 3 & ~3)
                note = Note(s.data[off:off + descsz])
                if note.provider == provider:
                    found.append(note)
                off += descsz + 3 & ~3
        return found

    def in_code(self, address):
        return any(s.executable() and s.addr <= address < s.addr + s.size
                   for s in self.sections)
