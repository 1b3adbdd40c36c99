"""The three-dimensional side of the page: floor, light, camera, robots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import viser
from numpy.typing import NDArray

from pfmhr.sim import Box
from pfmhr.text import printable
from pfmhr.viewer.colours import Colour, heated, linear, tinted
from pfmhr.viewer.figure import Figure, Piece

Floats = NDArray[np.floating]
TILE = 1.0
"""m between the floor's heavier lines; the floor looks the same when it is moved by one."""
PANEL_WIDTH = 400
ABOVE = np.array([0.0, 0.0, 0.58])
"""m from a robot's root to its label."""
BRAND = (62, 99, 160)
BOX_COLOUR = (199, 176, 140)
GRAIN = 1024.0
"""Positions are whole parts of so many to the metre, orientations of twice as many to one: a millimetre is not seen,
and a recording of it takes half the space."""


class Actor:
    """One robot on the stage, and the boxes in its way."""

    def __init__(
        self,
        server: viser.ViserServer,
        name: str,
        figure: Figure,
        tint: Colour | None = None,
        label: str = "",
        boxes: Sequence[Box] = (),
    ) -> None:
        self.figure, self._boxes = figure, boxes
        self._colours = [tinted(piece.colour, tint) for piece in figure.pieces]
        self._shapes = [
            _add_piece(server, f"/{name}/{number}", piece, linear(heated(colour, np.zeros(len(colour)))))
            for number, (piece, colour) in enumerate(zip(figure.pieces, self._colours, strict=True))
        ]
        self._shown: list[NDArray[np.uint8] | None] = [None] * len(self._shapes)
        self._label = (
            server.scene.add_label(f"/{name}/label", printable(label), anchor="bottom-center") if label else None
        )
        self._props = [_add_box(server, f"/{name}/box{number}", box) for number, box in enumerate(boxes)]

    def show(self, positions: Floats, shift: Floats, heat: Floats | None = None) -> None:
        """Take a pose, moved by ``shift`` ``(3,)``, joints warmed by ``heat`` ``(J,)`` in [0, 1]."""
        for number, (middle, wxyz) in enumerate(self.figure.place(positions)):
            shape, piece = self._shapes[number], self.figure.pieces[number]
            shape.batched_positions = _grained(middle + shift, GRAIN)
            shape.batched_wxyzs = _grained(wxyz, 2.0 * GRAIN)
            warmth = np.zeros(len(middle)) if heat is None else np.where(piece.moved_by, heat, 0.0).max(axis=1)
            colours, before = linear(heated(self._colours[number], warmth)), self._shown[number]
            if before is None or (colours != before).any():
                shape.batched_colors = self._shown[number] = colours
        if self._label is not None:
            root = positions[:3] if self.figure.robot.floating_base else np.zeros(3)
            self._label.position = root + shift + ABOVE
        for prop, box in zip(self._props, self._boxes, strict=True):
            prop.position = np.array(box.position) + shift

    def rename(self, label: str) -> None:
        """Say something else above it, if it has a label."""
        shown = printable(label)
        if self._label is not None and self._label.text != shown:
            self._label.text = shown


def _grained(values: Floats, grain: float) -> NDArray[np.float32]:
    return (np.round(values * grain) / grain).astype(np.float32)


def _add_piece(server: viser.ViserServer, name: str, piece: Piece, colours: NDArray[np.uint8]) -> Any:
    count = len(piece.geom)
    return server.scene.add_batched_meshes_simple(
        name,
        np.asarray(piece.mesh.vertices, dtype=np.float32),
        np.asarray(piece.mesh.faces, dtype=np.uint32),
        batched_wxyzs=np.tile(np.array([1.0, 0.0, 0.0, 0.0], dtype=np.float32), (count, 1)),
        batched_positions=np.zeros((count, 3), dtype=np.float32),
        batched_scales=piece.scale.astype(np.float32),
        batched_colors=colours,
        lod="off",
    )


def _add_box(server: viser.ViserServer, name: str, box: Box) -> Any:
    width, depth, height = (2.0 * half for half in box.size)
    return server.scene.add_box(name, BOX_COLOUR, (width, depth, height), wxyz=box.quat)


class Stage:
    """Floor, light and camera. The robots stay in the middle and the floor moves under them."""

    def __init__(
        self, server: viser.ViserServer, shadows: bool = True, width: float = 0.0, facing: float = 0.0
    ) -> None:
        """Set up for what is ``width`` m wide and looks towards ``facing`` rad: it is seen from ahead, a little aside.

        Shadows take a computer without a graphics card twenty times as long.
        """
        server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=BRAND)
        server.gui.main_panel.dock_right()
        server.gui.main_panel.set_width(PANEL_WIDTH)
        server.scene.world_axes.visible = False
        # Light that comes from everywhere: a picture of a room would take a processor ten seconds to prepare.
        server.scene.configure_environment_map(None)
        server.scene.add_light_hemisphere(
            "/sky", sky_color=(255, 255, 255), ground_color=(190, 194, 202), intensity=2.2
        )
        self._floor = server.scene.add_grid(
            "/floor",
            infinite_grid=True,
            cell_size=TILE / 2,
            section_size=TILE,
            cell_color=(214, 218, 224),
            section_color=(176, 184, 196),
            plane_color=(243, 245, 248),
            plane_opacity=1.0,
            fade_distance=18.0,
            shadow_opacity=0.25,
        )
        server.scene.configure_default_lights(cast_shadow=shadows)
        away = 2.6 + 0.9 * width
        side = facing + np.deg2rad(14.0 if width else 36.0)
        server.initial_camera.look_at = (0.0, 0.0, 0.62)
        server.initial_camera.position = (away * np.cos(side), away * np.sin(side), 1.25)
        server.initial_camera.fov = np.deg2rad(38.0)

    def centre(self, middle: Floats) -> Floats:
        """Shift ``(3,)`` that brings a place ``(3,)`` into the middle; the floor goes along, tile by tile."""
        self._floor.position = (*(-np.mod(middle[:2], TILE)), 0.0)
        return np.array([-middle[0], -middle[1], 0.0])
